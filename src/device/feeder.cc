#include "recpack/device/feeder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/base/start_thread.h"
#include "recpack/device/slabs.h"
#include "src/base/format.h"
#include "src/device/feeder_target.h"
#include "src/device/gain_feeding.h"
#include "src/device/gate.h"
#include "src/device/lane.h"
#include "src/device/releaser.h"

namespace recpack {
namespace {

// Batches that are ready for one consumer.
struct Queue {
  std::shared_ptr<Lane> lane;
  std::deque<std::optional<DeviceBatch>> batches;  // nullopt: end of an epoch
};

}  // namespace

struct DeviceFeeder::State {
  State(FeederTarget to, std::unique_ptr<SlabAllocator> own_slabs, std::unique_ptr<Loader> from)
      : target(std::move(to)),
        slabs(std::move(own_slabs)),
        loader(std::move(from)),
        layout(LayOut(*loader)) {
    RefuseEpochsWithoutSteps();
    const size_t prefetch = loader->options().prefetch, most = loader->options().max_live_batches;
    gate = std::make_shared<Gate>(most == 0 ? prefetch : std::min(prefetch, most));
    if (target.uses_host()) {
      target.depth = std::min(target.depth, prefetch / target.devices.size());
      if (target.depth == 0) {
        throw Error(ErrorKind::kInvalidArgument,
                    format("a loader with a prefetch of {} cannot feed {} consumers", prefetch,
                           target.devices.size()),
                    {}, "raise `prefetch`");
      }
    }
    if (target.runtime != nullptr) {
      releaser = std::make_unique<Releaser>(*target.runtime);
    }
    for (const int device : target.devices) {
      queues.push_back({target.runtime && IsDevice(device)
                            ? MakeCopyLane(*target.runtime, device, layout, target.depth, *releaser)
                            : MakeHostLane(layout, target.depth),
                        {}});
    }
    gain.emplace(*loader, queues.size(), mutex, changed);
    thread = StartThread<std::jthread>([this] { Run(); });
  }

  ~State() {
    loader->WaitNoMore();
    gate->Stop();
    for (const Queue& queue : queues) queue.lane->pool()->Stop();
    {
      const std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
    releaser.reset();  // waits for all copies; the loader then has its slabs back
    queues.clear();
  }

  // Epochs without a step would fill the queues with their ends.
  void RefuseEpochsWithoutSteps() const {
    const uint64_t batches = loader->steps_per_epoch();
    if (loader->options().last_batch != LastBatch::kDrop || batches >= target.devices.size())
      return;
    throw Error(ErrorKind::kInvalidArgument,
                format("an epoch of {} batches is less than a step of {} consumers", batches,
                       target.devices.size()),
                {}, "make batches smaller, name fewer devices, or pad or keep the last one");
  }

  void Run() {
    InputWaitSpan::ThisThreadFetchesAhead();
    try {
      while (BringStep()) {
        if (releaser && releaser->failure()) std::rethrow_exception(releaser->failure());
      }
    } catch (...) {  // also when the feeder is destroyed, where it is ignored
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    changed.notify_all();
  }

  // Returns false if the feeder stops.
  bool BringStep() {
    std::vector<DeviceBatch> step;
    std::shared_ptr<const Batch> batch;
    gain->KeepLead([&](size_t i) { return queues[i].batches.size(); },
                   [&] { return stopped || abort_reason; });
    for (size_t i = 0; i < queues.size(); ++i) {
      const auto slot = TakeSlot(i);
      if (!slot) return false;
      std::optional<Batch> next;
      if (!gate->Wait()) return false;
      try {
        next = loader->Next();
      } catch (...) {
        queues[i].lane->pool()->Give(*slot, false);
        throw;
      }
      if (!next) {
        queues[i].lane->pool()->Give(*slot, false);
        return EndEpoch(std::move(step), batch);
      }
      batch = gate->Hold(std::move(*next), i);
      step.push_back(Bring(i, *slot, batch));
    }
    Publish(std::move(step), batch->token());
    return true;
  }

  // `step` lacks batches for its last devices, or is empty; `last` is the last device's.
  bool EndEpoch(std::vector<DeviceBatch> step, const std::shared_ptr<const Batch>& last) {
    const LastBatch rule = loader->options().last_batch;
    if (!step.empty() && rule != LastBatch::kDrop) {
      for (size_t i = step.size(); i < queues.size(); ++i) {
        if (rule == LastBatch::kKeep) {
          step.push_back(Describe(*last));
          step.back().device_ = queues[i].lane->device();
          step.back().data_.resize(layout.arrays->size());
          continue;
        }
        const auto slot = TakeSlot(i);
        if (!slot) return false;
        step.push_back(Bring(i, *slot, last));
        std::ranges::fill(step.back().mask_, uint8_t{0});
      }
      Publish(std::move(step), last->token());
    }
    const std::lock_guard lock(mutex);
    for (Queue& queue : queues) queue.batches.emplace_back();
    steps_taken = 0;
    changed.notify_all();
    return true;
  }

  std::optional<size_t> TakeSlot(size_t index) {
    waits_for = static_cast<int>(index);
    const auto slot = queues[index].lane->pool()->Take();
    waits_for = -1;
    return slot;
  }

  DeviceBatch Bring(size_t index, size_t slot, const std::shared_ptr<const Batch>& batch) {
    LaneBatch brought = queues[index].lane->Bring(slot, batch);
    DeviceBatch result = Describe(*batch);
    result.slot_ = std::move(brought.slot);
    result.data_ = std::move(brought.data);
    result.device_ = queues[index].lane->device();
    result.size_ = batch->size();
    result.ids_.assign(batch->ids().begin(), batch->ids().begin() + batch->size());
    result.mask_.assign(batch->mask().begin(), batch->mask().begin() + batch->size());
    return result;
  }

  DeviceBatch Describe(const Batch& batch) const {
    DeviceBatch result;
    result.arrays_ = layout.arrays;
    result.epoch_ = batch.epoch();
    result.step_ = steps_taken;
    result.gain_block_ = batch.gain_block();
    return result;
  }

  // A copy, since the loader continues.
  std::shared_ptr<const EpochAudit> AuditSoFar() const {
    auto audit = std::make_shared<EpochAudit>(loader->audit().key());
    audit->Merge(loader->audit());  // drops counts
    return audit;
  }

  void Publish(std::vector<DeviceBatch> step, const std::string& token) {
    const auto audit = AuditSoFar();
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < step.size(); ++i) {
      step[i].token_ = token;
      step[i].audit_ = audit;
      queues[i].batches.emplace_back(std::move(step[i]));
    }
    ++steps_taken;
    changed.notify_all();
  }

  std::optional<DeviceBatch> Next(size_t index) {
    Queue& queue = queues[index];
    std::unique_lock lock(mutex);
    gain->Asks(index, queue.batches.empty());
    while (queue.batches.empty() || abort_reason) {
      if (abort_reason) throw Error(ErrorKind::kDevice, *abort_reason);
      if (failure) std::rethrow_exception(failure);
      if (queue.lane->pool()->AllDelivered()) {
        throw Error(ErrorKind::kInvalidArgument,
                    format("all {} batches are held by their consumer", target.depth), {},
                    "release one before the next, or raise `depth`");
      }
      const auto deadline = std::chrono::steady_clock::now() + loader->options().stall_timeout;
      const bool late = changed.wait_until(lock, deadline) == std::cv_status::timeout;
      if (late && !Overslept(deadline)) CheckConsumers(queue);
    }
    std::optional<DeviceBatch> batch = std::move(queue.batches.front());
    queue.batches.pop_front();
    gain->Has(index);
    if (batch && batch->slot_) batch->slot_->Deliver();
    return batch;
  }

  // Throws if a step is missing because a consumer keeps what the loader needs, or takes nothing.
  void CheckConsumers(const Queue& queue) {
    if (!queue.batches.empty()) return;
    if (const auto holder = gate->WaitsFor()) {
      const bool own = &queues[*holder] == &queue;
      throw Error(
          own ? ErrorKind::kInvalidArgument : ErrorKind::kIo,
          format("no batch for {} ms: the consumer at index {} holds one that is {} batches "
                 "of the loader old, whose memory comes next",
                 loader->options().stall_timeout.count(), *holder, loader->options().prefetch),
          {}, "release batches in the order in which they came, or raise `prefetch`");
    }
    const int index = waits_for;
    if (index < 0 || &queues[static_cast<size_t>(index)] == &queue) return;
    throw Error(ErrorKind::kIo,
                format("no batch for {} ms: the consumer at index {} takes none and has {} waiting",
                       loader->options().stall_timeout.count(), index,
                       queues[static_cast<size_t>(index)].batches.size()),
                {}, "take one batch of each device a step");
  }

  FeederTarget target;
  std::unique_ptr<SlabAllocator> slabs;
  std::unique_ptr<Loader> loader;
  const DeviceLayout layout;
  std::shared_ptr<Gate> gate;
  std::unique_ptr<Releaser> releaser;
  std::atomic<int> waits_for = -1;  // index of the consumer that has to make room

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Queue> queues;    // per consumer
  std::exception_ptr failure;  // thrown after the queued batches
  std::optional<std::string> abort_reason;
  bool stopped = false;
  uint64_t steps_taken = 0;  // feeder's thread only
  std::optional<GainFeeding> gain;
  std::jthread thread;
};

DeviceFeeder::DeviceFeeder(const Mixture& samples, LoaderOptions loader,
                           DeviceFeederOptions options) {
  FeederTarget target = ChooseTarget(options);
  std::unique_ptr<SlabAllocator> slabs;
  if (target.runtime) slabs = std::make_unique<PinnedSlabs>(*target.runtime, target.devices);
  auto made = std::make_unique<Loader>(samples, ToFeed(std::move(loader), target, slabs.get()));
  state_ = std::make_unique<State>(std::move(target), std::move(slabs), std::move(made));
}

DeviceFeeder::DeviceFeeder(std::unique_ptr<Loader> loader, DeviceFeederOptions options)
    : state_(std::make_unique<State>(ChooseTarget(options), nullptr, std::move(loader))) {}

DeviceFeeder::~DeviceFeeder() = default;

std::optional<DeviceBatch> DeviceFeeder::Next(size_t index) {
  if (index >= state_->queues.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no consumer {} of {}", index, state_->queues.size()), {},
                "they count from 0, as the feeder's `devices`");
  }
  std::optional<DeviceBatch> batch;
  {
    const InputWaitSpan span(static_cast<uint16_t>(index));
    batch = state_->Next(index);
  }
  state_->gain->Tell(index, batch);
  return batch;
}

void DeviceFeeder::Abort(const std::string& reason) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->abort_reason) state_->abort_reason = reason;
  }
  state_->changed.notify_all();
}

size_t DeviceFeeder::devices() const noexcept { return state_->queues.size(); }

const std::vector<ArraySpec>& DeviceFeeder::arrays() const noexcept {
  return *state_->layout.arrays;
}

uint64_t DeviceFeeder::steps_per_epoch() const noexcept {
  const uint64_t batches = state_->loader->steps_per_epoch(), lanes = devices();
  const bool drop = state_->loader->options().last_batch == LastBatch::kDrop;
  return drop ? batches / lanes : (batches + lanes - 1) / lanes;
}

const std::string& DeviceFeeder::reason() const noexcept { return state_->target.reason; }

const Mixture& DeviceFeeder::samples() const noexcept { return state_->loader->samples(); }

const LoaderOptions& DeviceFeeder::loader_options() const noexcept {
  return state_->loader->options();
}

}  // namespace recpack
