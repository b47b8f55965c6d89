#include "src/device/step_queues.h"

#include <chrono>
#include <utility>

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "src/base/format.h"

namespace recpack {

StepQueues::StepQueues(std::vector<std::shared_ptr<Lane>> lanes, size_t depth, Loader& loader,
                       const Gate& gate)
    : depth_(depth), loader_(loader), gate_(gate), gain_(loader, lanes.size(), mutex_, changed_) {
  for (auto& lane : lanes) queues_.push_back({std::move(lane), {}});
}

void StepQueues::KeepLead() {
  gain_.KeepLead([&](size_t i) { return queues_[i].batches.size(); },
                 [&] { return stopped_ || abort_reason_; });
}

std::optional<size_t> StepQueues::TakeSlot(size_t consumer) {
  waits_for_ = static_cast<int>(consumer);
  const auto slot = queues_[consumer].lane->pool()->Take();
  waits_for_ = -1;
  return slot;
}

void StepQueues::Publish(std::vector<DeviceBatch> step) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < step.size(); ++i) queues_[i].batches.emplace_back(std::move(step[i]));
  changed_.notify_all();
}

void StepQueues::EndEpoch() {
  const std::lock_guard lock(mutex_);
  for (Queue& queue : queues_) queue.batches.emplace_back();
  changed_.notify_all();
}

void StepQueues::Fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  changed_.notify_all();
}

void StepQueues::Abort(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!abort_reason_) abort_reason_ = reason;
  }
  changed_.notify_all();
}

void StepQueues::Stop() {
  for (const Queue& queue : queues_) queue.lane->pool()->Stop();
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

std::optional<DeviceBatch> StepQueues::Next(size_t consumer) {
  std::optional<DeviceBatch> batch;
  {
    const InputWaitSpan span(static_cast<uint16_t>(consumer));
    batch = Take(consumer);
  }
  gain_.Tell(consumer, batch);
  return batch;
}

std::optional<DeviceBatch> StepQueues::Take(size_t consumer) {
  Queue& queue = queues_[consumer];
  std::unique_lock lock(mutex_);
  gain_.Asks(consumer, queue.batches.empty());
  while (queue.batches.empty() || abort_reason_) {
    if (abort_reason_) throw Error(ErrorKind::kDevice, *abort_reason_);
    if (failure_) std::rethrow_exception(failure_);
    if (queue.lane->pool()->AllDelivered()) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("all {} batches are held by their consumer", depth_), {},
                  "release one before the next, or raise `depth`");
    }
    const auto deadline = std::chrono::steady_clock::now() + loader_.options().stall_timeout;
    const bool late = changed_.wait_until(lock, deadline) == std::cv_status::timeout;
    if (late && !Overslept(deadline)) CheckConsumers(queue);
  }
  std::optional<DeviceBatch> batch = std::move(queue.batches.front());
  queue.batches.pop_front();
  gain_.Has(consumer);
  if (batch && batch->slot_) batch->slot_->Deliver();
  return batch;
}

// Throws if a step is missing because a consumer keeps what the loader needs, or takes nothing.
void StepQueues::CheckConsumers(const Queue& queue) const {
  if (!queue.batches.empty()) return;
  const auto timeout = loader_.options().stall_timeout.count();
  if (const auto holder = gate_.WaitsFor()) {
    const bool own = &queues_[*holder] == &queue;
    throw Error(own ? ErrorKind::kInvalidArgument : ErrorKind::kIo,
                format("no batch for {} ms: the consumer at index {} holds one that is {} batches "
                       "of the loader old, whose memory comes next",
                       timeout, *holder, loader_.options().prefetch),
                {}, "release batches in the order in which they came, or raise `prefetch`");
  }
  const int index = waits_for_;
  if (index < 0 || &queues_[static_cast<size_t>(index)] == &queue) return;
  throw Error(ErrorKind::kIo,
              format("no batch for {} ms: the consumer at index {} takes none and has {} waiting",
                     timeout, index, queues_[static_cast<size_t>(index)].batches.size()),
              {}, "take one batch of each device a step");
}

}  // namespace recpack
