// Work of a device that goes on beside the work of its Ops.
#pragma once

#include <cstddef>
#include <memory>

#include "recpack/device/runtime.h"

namespace recpack::train {

// An order of work of its own on the device of an Ops and on its memory, for what exchanges
// gradients while the backward pass goes on. Each call says which thread makes it: that of the Ops,
// or one other. Throws Error (kDevice).
class ExchangeStream {
 public:
  virtual ~ExchangeStream() = default;  // waits for its work; before its Ops goes

  // The thread of the Ops: all that the Ops was given up to here is before mark number `mark`.
  // Captured with it, the mark is set anew by each replay.
  virtual void Mark(size_t mark) = 0;
  // The other thread: what this is given from here on is done after all before the mark, as it was
  // last set.
  virtual void Await(size_t mark) = 0;

  // The other thread. Download() returns once the bytes are there; of Upload(), `from` is memory of
  // HostMemory() and stays as it is until Join() and what the Ops is given next are done.
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  // Either thread: from memory of a device to memory of a device, this one and another or the same;
  // directly where the two reach each other. Both stay as they are until it is done.
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  // Returns once all that this was given is done.
  virtual void Wait() = 0;
  // For work of others on it.
  virtual DeviceStream Stream() const noexcept = 0;

  // The thread of the Ops, while no other uses this: what the Ops is given from here on is done
  // after all that this was given.
  virtual void Join() = 0;

  // The host's memory, as the device copies it best. Any thread; after the stream it may stay.
  virtual std::shared_ptr<void> HostMemory(size_t bytes) = 0;
};

}  // namespace recpack::train
