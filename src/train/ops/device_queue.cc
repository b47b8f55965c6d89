#include "src/train/ops/device_queue.h"

#include <utility>

#include "recpack/base/start_thread.h"

namespace recpack::train {

DeviceQueue::DeviceQueue(Ops& ops, Done done, uint16_t device) : ops_(ops), device_(device) {
  if (done == Done::kByOwnThread) thread_ = StartThread([this] { Work(); });
}

DeviceQueue::~DeviceQueue() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DeviceQueue::Do(std::function<void()> work, Kind kind) {
  if (!thread_.joinable()) return work();
  ++given_;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(work), kind});
  }
  changed_.notify_all();
}

void DeviceQueue::Do(const Piece& piece) {
  const bool told =
      device_ != Event::kNoDevice && piece.kind == Kind::kComputes && !ops_.RecordsOperations();
  const EventSpan computes(
      told ? EventLog::OfProcess() : nullptr,
      {.kind = EventKind::kDevice, .device = device_, .lane = EventLog::ThreadLane()});
  piece.work();
}

bool DeviceQueue::Await(uint64_t given) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= given; });
  return !failure_;
}

void DeviceQueue::Join() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= given_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void DeviceQueue::Work() {
  bool attached = false;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Piece piece = std::move(waiting_.front());
    waiting_.pop_front();
    if (!failure_) {
      lock.unlock();
      std::exception_ptr failure;
      try {
        if (!std::exchange(attached, true)) ops_.Attach();
        Do(piece);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
    }
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace recpack::train
