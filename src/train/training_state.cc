#include "src/train/training_state.h"

namespace recpack {

TrainingState::TrainingState(const Variables& variables) {
  const auto add = [this](const std::string& name, const Shape& shape) {
    values_.emplace_back(static_cast<size_t>(Elements(shape)));
    arrays_.push_back({name, ValueType::kF32, shape, values_.back().data()});
  };
  for (const VariableSpec& spec : variables.specs()) add(spec.name, spec.shape);
  for (const VariableSpec& spec : variables.specs()) {
    if (spec.trained) add(std::string(kOptimizerPrefix) + "momentum/" + spec.name, spec.shape);
  }
}

void TrainingState::Read(const Variables& variables, VariableStrategy& strategy) {
  size_t momentum = variables.specs().size();
  for (size_t i = 0; i < variables.specs().size(); ++i) {
    DeviceQueue& queue = variables.queue(i);
    queue.DoAndJoin([&] {
      queue.ops().Download(values_[i].data(), variables.At(i), values_[i].size() * sizeof(float));
    });
    if (variables.specs()[i].trained) strategy.ReadMomentum(i, values_[momentum++].data());
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
  size_t momentum = variables.specs().size();
  for (size_t i = 0; i < variables.specs().size(); ++i) {
    if (!variables.specs()[i].trained) continue;
    strategy.WriteMomentum(i, static_cast<const float*>(arrays[momentum++].data));
  }
  strategy.VariablesSet();
}

}  // namespace recpack
