#include "src/device/releaser.h"

#include "recpack/base/start_thread.h"

namespace recpack {

Releaser::Releaser(DeviceRuntime& runtime)
    : runtime_(runtime), thread_(StartThread<std::jthread>([this] { Run(); })) {}

Releaser::~Releaser() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  added_.notify_one();
}

void Releaser::Add(int device, DeviceEvent copied, std::shared_ptr<const Batch> batch) {
  {
    const std::lock_guard lock(mutex_);
    copies_.push_back({device, copied, std::move(batch)});
  }
  added_.notify_one();
}

std::exception_ptr Releaser::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Releaser::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [&] { return closed_ || !copies_.empty(); });
    if (copies_.empty()) return;
    Copy copy = std::move(copies_.front());
    copies_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      runtime_.Synchronise(copy.device, copy.copied, WaitPoint::kReleaseAfterCopy);
    } catch (...) {
      failure = std::current_exception();  // the device is dead: nothing runs any more
    }
    copy.batch.reset();
    lock.lock();
    if (!failure_) failure_ = failure;
  }
}

}  // namespace recpack
