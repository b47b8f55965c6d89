// Releases batches to their loader once they are copied.
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

// Waits for copies in a thread of its own, in the order in which they were started.
class Releaser {
 public:
  explicit Releaser(DeviceRuntime& runtime);
  // Waits for all copies that were added; their events must still exist.
  ~Releaser();

  // Keeps the batch until `copied`, as last recorded, is complete. If the event is recorded again
  // for a later copy on the same stream, the batch is only kept longer.
  void Add(int device, DeviceEvent copied, std::shared_ptr<const Batch> batch);

  // The exception that waiting threw, or null.
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
  std::jthread thread_;  // last member: uses the others
};

}  // namespace recpack
