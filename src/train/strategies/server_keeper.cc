// Work of a parameter server's keepers: sums gradients and updates variables.
#include <exception>

#include "src/train/strategies/server_state.h"

namespace recpack::train {

void ParameterServer::Keep(Keeper& keeper) {
  try {
    Hold(keeper);
    std::unique_lock lock(keeper.mutex);
    for (;;) {
      keeper.changed.wait(lock, [&] { return keeper.ended || !keeper.work.empty(); });
      if (keeper.ended) return;
      const auto [variable, device] = keeper.work.front();
      keeper.work.pop_front();
      lock.unlock();
      Update(keeper, *variable, device);
      lock.lock();
    }
  } catch (const std::exception& error) {
    Abort(error.what());
  }
}

// Moves variables to the keeper's memory. Between processes, one buffer receives sums.
void ParameterServer::Hold(Keeper& keeper) {
  keeper.ops->Attach();
  const size_t buffers = !keeper.on_device() ? 0 : exchange_ ? 1 : options_.devices;
  for (const auto& variable : variables_) {
    if (variable->keeper != &keeper) continue;
    const size_t bytes = variable->size * sizeof(float);
    const std::lock_guard lock(variable->mutex);
    variable->value = keeper.ops->Allocate(bytes);
    for (size_t i = 0; i < buffers; ++i) {
      variable->arrived_there.push_back(keeper.ops->Allocate(bytes));
    }
    keeper.ops->Upload(variable->value.data(), variable->published.data(), bytes);
    for (const std::vector<float>& slot : variable->slots_at_first) {
      variable->slots.push_back(keeper.ops->Allocate(bytes));
      keeper.ops->Upload(variable->slots.back().data(), slot.data(), bytes);
    }
    keeper.ops->Synchronise();
    variable->kept = true;
    variable->changed.notify_all();
  }
}

float* ParameterServer::SumInHost(const Variable& variable, size_t first, size_t end) const {
  float* const sum = variable.sent[first];
  for (size_t i = first + 1; i < end; ++i) {
    for (size_t k = 0; k < variable.size; ++k) sum[k] += variable.sent[i][k];
  }
  return sum;
}

// Sums in device order.
float* ParameterServer::Sum(Keeper& keeper, Variable& variable, size_t device) {
  const size_t first = options_.async ? device : 0,
               end = options_.async ? device + 1 : options_.devices;
  if (!keeper.on_device()) return SumInHost(variable, first, end);
  const auto there = [&](size_t i) -> Tensor {
    return {
        variable.arrived_there[i].data(), ElementType::kF32, {static_cast<int64_t>(variable.size)}};
  };
  for (size_t i = first; i < end; ++i) {
    if (variable.sent[i]) keeper.ops->Upload(there(i).data, variable.sent[i], there(i).bytes());
    if (i > first) keeper.ops->Add(there(i), there(first));
  }
  return there(first).As<float>();
}

// Nobody writes a sent gradient while it is marked full.
void ParameterServer::Update(Keeper& keeper, Variable& variable, size_t device) {
  const float* const gradient = Sum(keeper, variable, device);
  {
    const std::lock_guard lock(variable.mutex);
    UpdateValue(keeper, variable, gradient, device);
    MarkUpdated(variable, device);
  }
  variable.changed.notify_all();
}

// `gradient`: in the keeper's memory. `device`: that sent it, or any of those whose sum it is.
void ParameterServer::UpdateValue(Keeper& keeper, Variable& variable, const float* gradient,
                                  size_t device) {
  std::vector<float*> slots;
  for (const DeviceArray& slot : variable.slots) slots.push_back(slot.As<float>());
  UpdateValues(*keeper.ops, options_.optimizer, variable.steps[device], variable.decayed,
               variable.value.As<float>(), gradient, slots, variable.size);
  if (options_.on_host || !keeper.on_device()) {
    keeper.ops->Download(variable.published.data(), variable.value.data(),
                         variable.size * sizeof(float));
  } else {
    keeper.ops->Synchronise();
  }
}

// Call with its mutex locked; then notify those who wait.
void ParameterServer::MarkUpdated(Variable& variable, size_t device) {
  if (options_.async) {
    variable.full[device] = false;
  } else {
    variable.full.assign(options_.devices, false);
  }
  variable.arrived = 0;
  ++variable.updates;
}

}  // namespace recpack::train
