#include "src/train/strategies/parameter_server.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <span>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/start_thread.h"
#include "src/train/ops/memory_purpose.h"
#include "src/train/ops/seconds.h"
#include "src/train/ops/step_events.h"

namespace recpack::train {

struct ParameterServer::Variable {
  size_t size = 0;
  bool decayed = true;
  Keeper* keeper = nullptr;
  DeviceArray value;  // in the keeper's memory, like the slots
  std::vector<DeviceArray> slots;
  // Per device, for a keeper with a stream: buffers that receive gradients.
  std::vector<DeviceArray> arrived_there;

  std::mutex mutex;
  std::condition_variable changed;
  bool kept = false;              // the keeper has started
  std::vector<float*> sent;       // per device: address in host memory; null: copied to the keeper
  std::vector<bool> full;         // per device: sent and not used yet
  std::vector<UpdateStep> steps;  // per device: of the gradient it sent
  size_t arrived = 0;
  uint64_t due = 0;  // number of updates that the sent gradients make
  // in host memory; if no device reads it there, the initial values only
  std::vector<float> published;
  std::vector<std::vector<float>> slots_at_first;
  uint64_t updates = 0;
};

struct ParameterServer::Keeper {
  std::unique_ptr<Ops> ops;
  size_t elements = 0;  // number of elements kept

  bool on_device() const { return ops->Stream() != nullptr; }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<Variable*, size_t>> work;  // with the device, if updates are asynchronous
  bool ended = false;
  std::thread thread;
};

ParameterServer::ParameterServer(ParameterServerOptions options) : options_(std::move(options)) {
  for (const auto& make : options_.keepers) {
    keepers_.push_back(std::make_unique<Keeper>());
    keepers_.back()->ops = make();
  }
}

ParameterServer::~ParameterServer() { Stop(); }

void ParameterServer::Stop() noexcept {
  for (const auto& keeper : keepers_) {
    {
      const std::lock_guard lock(keeper->mutex);
      keeper->ended = true;
    }
    keeper->changed.notify_all();
    if (keeper->thread.joinable()) keeper->thread.join();
  }
}

void ParameterServer::Start(const Variables& variables, Ops& ops) {
  std::call_once(started_, [&] {
    std::vector<std::unique_ptr<Variable>> all;
    all.reserve(variables.specs().size());
    for (size_t i = 0; i < variables.specs().size(); ++i) {
      all.push_back(std::make_unique<Variable>());
      Variable& variable = *all.back();
      if (!variables.specs()[i].trained) continue;
      variable.size = variables.size(i);
      variable.decayed = variables.specs()[i].decayed;
      variable.keeper = std::min_element(keepers_.begin(), keepers_.end(), [](auto& a, auto& b) {
                          return a->elements < b->elements;
                        })->get();
      variable.keeper->elements += variable.size;
      variable.sent.assign(options_.devices, nullptr);
      variable.full.assign(options_.devices, false);
      variable.steps.resize(options_.devices);
      const auto floats = [&](const std::string& what) {
        return HostFloats(variable.size, what + variables.specs()[i].name);
      };
      variable.published = floats("the server's ");
      for (const std::string& slot : SlotNames(options_.optimizer)) {
        variable.slots_at_first.push_back(floats("the " + slot + " of "));
      }
      ops.Download(variable.published.data(), variables.At(i), variable.size * sizeof(float));
    }
    const std::lock_guard lock(mutex_);  // another device may fail and call Abort() concurrently
    variables_ = std::move(all);
  });
}

// Keepers start with the current values.
void ParameterServer::Begin() {
  std::call_once(begun_, [&] {
    for (const auto& keeper : keepers_) {
      if (keeper->thread.joinable()) continue;  // an earlier call started only some of them
      keeper->thread = StartThread([this, &keeper = *keeper] { Keep(keeper); });
    }
  });
}

void ParameterServer::SetValue(size_t number, const std::function<void(float* to)>& download) {
  Variable& variable = *variables_[number];
  const std::lock_guard lock(variable.mutex);
  download(variable.published.data());
}

void ParameterServer::ReadSlot(size_t slot, size_t number, float* to) {
  Variable& variable = *variables_[number];
  const std::lock_guard lock(variable.mutex);
  if (variable.value.data()) {
    variable.keeper->ops->Download(to, variable.slots[slot].data(), variable.size * sizeof(float));
  } else {
    std::copy_n(variable.slots_at_first[slot].begin(), variable.size, to);
  }
}

void ParameterServer::WriteSlot(size_t slot, size_t number, const float* from) {
  Variable& variable = *variables_[number];
  const std::lock_guard lock(variable.mutex);
  std::copy_n(from, variable.size, variable.slots_at_first[slot].begin());
}

double ParameterServer::WaitFor(Variable& variable, std::unique_lock<std::mutex>& lock,
                                const std::function<bool()>& met) {
  const ExchangeWaitSpan span;
  const auto begin = std::chrono::steady_clock::now();
  variable.changed.wait(lock, [&] { return aborted_ || met(); });
  if (aborted_) {
    const std::lock_guard hold(mutex_);
    throw Error(ErrorKind::kDevice, reason_);
  }
  return SecondsSince(begin);
}

double ParameterServer::Push(size_t device, size_t number, const UpdateStep& step,
                             const Send& send) {
  Begin();
  Variable& variable = *variables_[number];
  double waited = 0;
  {
    std::unique_lock lock(variable.mutex);
    waited = WaitFor(variable, lock, [&] { return variable.kept && !variable.full[device]; });
  }
  const bool there = variable.keeper->on_device();
  variable.sent[device] = send(there ? variable.arrived_there[device].As<float>() : nullptr);
  {
    const std::lock_guard lock(variable.mutex);
    variable.full[device] = true;
    variable.steps[device] = step;
    if (++variable.arrived < options_.devices && !options_.async) return waited;
    ++variable.due;
  }
  Keeper& keeper = *variable.keeper;
  {
    const std::lock_guard lock(keeper.mutex);
    keeper.work.emplace_back(&variable, device);
  }
  keeper.changed.notify_one();
  return waited;
}

double ParameterServer::Pull(size_t number, uint64_t updates, bool reaches,
                             const Receive& receive) {
  Variable& variable = *variables_[number];
  std::unique_lock lock(variable.mutex);
  const uint64_t least = updates == kAllSent ? variable.due : options_.async ? 0 : updates;
  const double waited = WaitFor(variable, lock, [&] { return variable.updates >= least; });
  if (reaches && variable.updates > 0 && variable.keeper->on_device()) {
    receive(nullptr, variable.value.As<float>());
  } else {
    receive(variable.published.data(), nullptr);
  }
  return waited;
}

void ParameterServer::Abort(const std::string& reason) noexcept {
  std::span<const std::unique_ptr<Variable>> variables;
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
    reason_ = reason;
    aborted_ = true;
    variables = variables_;  // none yet: no caller waits, and later ones see the abort
  }
  for (const auto& variable : variables) {
    const std::lock_guard lock(variable->mutex);
    variable->changed.notify_all();
  }
}

void ParameterServer::Keep(Keeper& keeper) {
  try {
    keeper.ops->Attach();
    for (const auto& variable : variables_) {
      if (variable->keeper != &keeper) continue;
      const size_t bytes = variable->size * sizeof(float);
      const std::lock_guard lock(variable->mutex);
      variable->value = keeper.ops->Allocate(bytes);
      for (size_t i = 0; keeper.on_device() && i < options_.devices; ++i) {
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

// Sums in device order.
float* ParameterServer::Sum(Keeper& keeper, Variable& variable, size_t device) {
  const size_t first = options_.async ? device : 0,
               end = options_.async ? device + 1 : options_.devices;
  if (!keeper.on_device()) {
    float* const sum = variable.sent[first];
    for (size_t i = first + 1; i < end; ++i) {
      for (size_t k = 0; k < variable.size; ++k) sum[k] += variable.sent[i][k];
    }
    return sum;
  }
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
  std::vector<float*> slots;
  for (const DeviceArray& slot : variable.slots) slots.push_back(slot.As<float>());
  {
    const std::lock_guard lock(variable.mutex);
    UpdateValues(*keeper.ops, options_.optimizer, variable.steps[device], variable.decayed,
                 variable.value.As<float>(), gradient, slots, variable.size);
    if (options_.on_host || !keeper.on_device()) {
      keeper.ops->Download(variable.published.data(), variable.value.data(),
                           variable.size * sizeof(float));
    } else {
      keeper.ops->Synchronise();
    }
    if (options_.async) {
      variable.full[device] = false;
    } else {
      variable.full.assign(options_.devices, false);
    }
    variable.arrived = 0;
    ++variable.updates;
  }
  variable.changed.notify_all();
}

}  // namespace recpack::train
