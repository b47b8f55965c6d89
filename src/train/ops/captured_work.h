// Captured device work that can be replayed, and asynchronous copies back to the host.
#pragma once

#include <cstddef>

namespace recpack::train {

// Device work recorded by Ops::Capture(). Used on the thread of its Ops; must not outlive the Ops.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  // Enqueues the recorded operations again, on the same memory, after everything enqueued so far.
  virtual void Replay() = 0;
};

// Host memory that a device copies to asynchronously. Used on the thread of its Ops; must not
// outlive the Ops. The destructor waits for copies in flight.
class Readback {
 public:
  virtual ~Readback() = default;
  // Enqueues a copy from device memory to `offset` [bytes].
  virtual void Enqueue(size_t offset, const void* from, size_t bytes) = 0;
  // Waits for the copies enqueued so far, and for no later work. The result is valid as long as
  // this object.
  virtual const void* Wait() = 0;
};

}  // namespace recpack::train
