#include "src/train/checkpoint/training_state.h"

#include "src/train/ops/memory_purpose.h"

namespace recpack::train {

TrainingState::TrainingState(const Variables& variables, const std::vector<std::string>& slots) {
  const auto add = [this](const std::string& name, const Shape& shape) {
    values_.push_back(HostFloats(static_cast<size_t>(Elements(shape)), "a checkpoint's " + name));
    arrays_.push_back({name, ElementType::kF32, shape, values_.back().data()});
  };
  for (const VariableSpec& spec : variables.specs()) add(spec.name, spec.shape);
  for (const std::string& slot : slots) {
    for (const VariableSpec& spec : variables.specs()) {
      if (spec.trained) add(kOptimizerPrefix + slot + "/" + spec.name, spec.shape);
    }
  }
}

void TrainingState::Read(const Variables& variables, VariableStrategy& strategy) {
  const size_t count = variables.specs().size();
  for (size_t i = 0; i < count; ++i) {
    DeviceQueue& queue = variables.queue(i);
    queue.DoAndJoin([&] {
      queue.ops().Download(values_[i].data(), variables.At(i), values_[i].size() * sizeof(float));
    });
  }
  size_t next = count;
  for (size_t slot = 0; next < values_.size(); ++slot) {
    for (size_t i = 0; i < count; ++i) {
      if (variables.specs()[i].trained) strategy.ReadSlot(slot, i, values_[next++].data());
    }
  }
}

void TrainingState::WriteVariables(const std::vector<NamedArray>& arrays,
                                   const Variables& variables) {
  for (size_t i = 0; i < variables.specs().size(); ++i) {
    DeviceQueue& queue = variables.queue(i);
    queue.DoAndJoin(
        [&] { queue.ops().Upload(variables.At(i), arrays[i].data, arrays[i].bytes()); });
  }
}

void TrainingState::Write(const std::vector<NamedArray>& arrays, const Variables& variables,
                          VariableStrategy& strategy) {
  WriteVariables(arrays, variables);
  const size_t count = variables.specs().size();
  size_t next = count;
  for (size_t slot = 0; next < arrays.size(); ++slot) {
    for (size_t i = 0; i < count; ++i) {
      if (!variables.specs()[i].trained) continue;
      strategy.WriteSlot(slot, i, static_cast<const float*>(arrays[next++].data));
    }
  }
  strategy.VariablesSet();
}

}  // namespace recpack::train
