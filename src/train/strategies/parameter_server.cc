#include "src/train/strategies/parameter_server.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/start_thread.h"
#include "src/train/ops/memory_purpose.h"
#include "src/train/ops/seconds.h"
#include "src/train/ops/step_events.h"
#include "src/train/strategies/server_state.h"

namespace recpack::train {

ParameterServer::ParameterServer(ParameterServerOptions options) : options_(std::move(options)) {
  for (const auto& make : options_.keepers) {
    keepers_.push_back(std::make_unique<Keeper>());
    keepers_.back()->ops = make();
  }
  if (options_.processes) exchange_ = std::make_unique<Exchange>();
}

ParameterServer::~ParameterServer() { Stop(); }

std::vector<ParameterServer::Worker*> ParameterServer::Workers() const {
  if (exchange_) return {exchange_.get()};
  std::vector<Worker*> workers;
  for (const auto& keeper : keepers_) workers.push_back(keeper.get());
  return workers;
}

void ParameterServer::Stop() noexcept {
  for (Worker* worker : Workers()) {
    {
      const std::lock_guard lock(worker->mutex);
      worker->ended = true;
    }
    worker->changed.notify_all();
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void ParameterServer::Start(const Variables& variables, Ops& ops) {
  std::call_once(started_, [&] {
    std::vector<std::unique_ptr<Variable>> all;
    all.reserve(variables.specs().size());
    published_ = HostFloats(variables.trained_size(), "the server's variables");
    for (size_t i = 0; i < variables.specs().size(); ++i) {
      all.push_back(std::make_unique<Variable>());
      Variable& variable = *all.back();
      if (!variables.specs()[i].trained) continue;
      variable.size = variables.size(i);
      variable.decayed = variables.specs()[i].decayed;
      variable.sent.assign(options_.devices, nullptr);
      variable.full.assign(options_.devices, false);
      variable.steps.resize(options_.devices);
      variable.published = std::span(published_).subspan(variables.offset(i), variable.size);
      for (const std::string& slot : SlotNames(options_.optimizer)) {
        variable.slots_at_first.push_back(
            HostFloats(variable.size, "the " + slot + " of " + variables.specs()[i].name));
      }
      ops.Download(variable.published.data(), variables.At(i), variable.size * sizeof(float));
    }
    exchange_ ? DistributeBuckets(all, variables) : Distribute(all);
    const std::lock_guard lock(mutex_);  // another device may fail and call Abort() concurrently
    variables_ = std::move(all);
  });
}

void ParameterServer::Distribute(VariableList list) {
  for (const auto& variable : list) {
    if (variable->size == 0) continue;
    variable->keeper = std::min_element(keepers_.begin(), keepers_.end(), [](auto& a, auto& b) {
                         return a->elements < b->elements;
                       })->get();
    variable->keeper->elements += variable->size;
  }
}

// Keepers start with the current values.
void ParameterServer::Begin() {
  std::call_once(begun_, [&] {
    if (exchange_) exchange_->thread = StartThread([this] { RunExchange(); });
    for (const auto& keeper : keepers_) {
      if (exchange_ || keeper->thread.joinable()) continue;  // an earlier call started some of them
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
  const bool there = !exchange_ && variable.keeper->on_device();
  variable.sent[device] = send(there ? variable.arrived_there[device].As<float>() : nullptr);
  {
    const std::lock_guard lock(variable.mutex);
    variable.full[device] = true;
    variable.steps[device] = step;
    if (++variable.arrived < options_.devices && !options_.async) return waited;
    ++variable.due;
  }
  Worker& worker = exchange_ ? static_cast<Worker&>(*exchange_) : *variable.keeper;
  {
    const std::lock_guard lock(worker.mutex);
    worker.work.emplace_back(&variable, device);
  }
  worker.changed.notify_one();
  return waited;
}

double ParameterServer::Pull(size_t number, uint64_t updates, bool reaches,
                             const Receive& receive) {
  Variable& variable = *variables_[number];
  std::unique_lock lock(variable.mutex);
  const uint64_t least = updates == kAllSent ? variable.due : options_.async ? 0 : updates;
  const double waited = WaitFor(variable, lock, [&] { return variable.updates >= least; });
  if (reaches && variable.updates > 0 && !exchange_ && variable.keeper->on_device()) {
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
  if (options_.processes) options_.processes->Abort(reason);
  for (const auto& variable : variables) {
    const std::lock_guard lock(variable->mutex);
    variable->changed.notify_all();
  }
}

}  // namespace recpack::train
