#include "recpack/device/feeder.h"

#include <algorithm>
#include <thread>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/base/start_thread.h"
#include "recpack/device/slabs.h"
#include "src/base/format.h"
#include "src/device/feeder_target.h"
#include "src/device/gate.h"
#include "src/device/lane.h"
#include "src/device/releaser.h"
#include "src/device/step_queues.h"

namespace recpack {

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
    std::vector<std::shared_ptr<Lane>> lanes;
    for (const int device : target.devices) {
      lanes.push_back(target.runtime && IsDevice(device)
                          ? MakeCopyLane(*target.runtime, device, layout, target.depth, *releaser)
                          : MakeHostLane(layout, target.depth));
    }
    queues.emplace(std::move(lanes), target.depth, *loader, *gate);
    thread = StartThread<std::jthread>([this] { Run(); });
  }

  ~State() {
    loader->WaitNoMore();
    gate->Stop();
    queues->Stop();
    if (thread.joinable()) thread.join();
    releaser.reset();  // waits for all copies; the loader then has its slabs back
    queues.reset();
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
      queues->Fail(std::current_exception());
    }
  }

  // Returns false if the feeder stops.
  bool BringStep() {
    std::vector<DeviceBatch> step;
    std::shared_ptr<const Batch> batch;
    queues->KeepLead();
    for (size_t i = 0; i < queues->consumers(); ++i) {
      const auto slot = queues->TakeSlot(i);
      if (!slot) return false;
      std::optional<Batch> next;
      if (!gate->Wait()) return false;
      try {
        next = loader->Next();
      } catch (...) {
        queues->lane(i).pool()->Give(*slot, false);
        throw;
      }
      if (!next) {
        queues->lane(i).pool()->Give(*slot, false);
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
      for (size_t i = step.size(); i < queues->consumers(); ++i) {
        if (rule == LastBatch::kKeep) {
          step.push_back(Describe(*last));
          step.back().device_ = queues->lane(i).device();
          step.back().data_.resize(layout.arrays->size());
          continue;
        }
        const auto slot = queues->TakeSlot(i);
        if (!slot) return false;
        step.push_back(Bring(i, *slot, last));
        std::ranges::fill(step.back().mask_, uint8_t{0});
      }
      Publish(std::move(step), last->token());
    }
    queues->EndEpoch();
    steps_taken = 0;
    return true;
  }

  DeviceBatch Bring(size_t index, size_t slot, const std::shared_ptr<const Batch>& batch) {
    LaneBatch brought = queues->lane(index).Bring(slot, batch);
    DeviceBatch result = Describe(*batch);
    result.slot_ = std::move(brought.slot);
    result.data_ = std::move(brought.data);
    result.device_ = queues->lane(index).device();
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
    for (DeviceBatch& batch : step) {
      batch.token_ = token;
      batch.audit_ = audit;
    }
    queues->Publish(std::move(step));
    ++steps_taken;
  }

  FeederTarget target;
  std::unique_ptr<SlabAllocator> slabs;
  std::unique_ptr<Loader> loader;
  const DeviceLayout layout;
  std::shared_ptr<Gate> gate;
  std::unique_ptr<Releaser> releaser;
  std::optional<StepQueues> queues;
  uint64_t steps_taken = 0;  // feeder's thread only
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
  if (index >= devices()) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no consumer {} of {}", index, devices()), {},
                "they count from 0, as the feeder's `devices`");
  }
  return state_->queues->Next(index);
}

void DeviceFeeder::Abort(const std::string& reason) { state_->queues->Abort(reason); }

size_t DeviceFeeder::devices() const noexcept { return state_->queues->consumers(); }

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
