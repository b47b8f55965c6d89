// Gives batches back to their loader once they are copied.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "recpack/device/runtime.h"
#include "recpack/loader/batch.h"

namespace recpack {

// A thread that waits for copies in the order in which they were begun.
class Releaser {
 public:
  explicit Releaser(DeviceRuntime& runtime);
  // Waits for all copies that it was given; their events still exist.
  ~Releaser();

  // The copy from the batch is done once `copied`, as last recorded, is complete. That it may be
  // recorded anew, for a later copy on the same stream, only makes this one be kept for longer.
  void Add(int device, DeviceEvent copied, std::shared_ptr<const Batch> batch);

  // What waiting threw, if it did.
  std::exception_ptr failure() const;

 private:
  struct Copy {
    int device;
    DeviceEvent copied;
    std::shared_ptr<const Batch> batch;
  };
  void Run();

  DeviceRuntime& runtime_;
  mutable std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Copy> copies_;
  bool closed_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // last
};

}  // namespace recpack
