// What lets the host run ahead of a device: work that it is told once, and results that are read
// later.
#pragma once

#include <cstddef>

namespace recpack::train {

// Work of a device that was captured by Ops::Capture(). Used by the thread of its Ops, not after
// it.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  // Enqueues it once more: the same operations on the same memory, behind what was enqueued before.
  virtual void Replay() = 0;
};

// Memory of the host that a device copies to while the host goes on. Used by the thread of its Ops,
// not after it; destroying it waits for what is under way.
class Readback {
 public:
  virtual ~Readback() = default;
  // Enqueues a copy of the device's memory to `offset`, in bytes.
  virtual void Enqueue(size_t offset, const void* from, size_t bytes) = 0;
  // Waits for the copies that were enqueued, and for nothing behind them. What it returns stays as
  // long as this object.
  virtual const void* Wait() = 0;
};

}  // namespace recpack::train
