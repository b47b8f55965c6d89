// Stream of exchange work that runs beside the compute work of an Ops.
#pragma once

#include <cstddef>
#include <memory>

#include "recpack/device/runtime.h"

namespace recpack::train {

// A second stream on the device and memory of an Ops, which exchanges gradients while the backward
// pass runs. Each member says which thread may call it: the thread of the Ops, or one exchange
// thread. Members throw Error (kDevice).
class ExchangeStream {
 public:
  virtual ~ExchangeStream() = default;  // waits for its work; call before the Ops ends

  // Ops thread. Sets mark number `mark` after all work enqueued on the Ops so far. If it is
  // captured, each replay sets the mark again.
  virtual void Mark(size_t mark) = 0;
  // Exchange thread. Work enqueued here from now on runs after everything before the mark, as last
  // set.
  virtual void Await(size_t mark) = 0;

  // Exchange thread. Download() returns once the bytes have arrived. Upload() reads `from`, which
  // is memory of HostMemory() and must not change until Join() and the work enqueued next on the
  // Ops are done.
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  // Either thread. Copies between memory of two devices or of one; directly if they have peer
  // access. Both arrays must stay unchanged until the copy is done.
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  // Blocks until all work enqueued here is done.
  virtual void Wait() = 0;
  // Stream for work that others enqueue here.
  virtual DeviceStream Stream() const noexcept = 0;

  // Ops thread, while no other thread uses this object. Work enqueued on the Ops from now on runs
  // after all work enqueued here.
  virtual void Join() = 0;

  // Allocates host memory that the device copies fastest (pinned on a GPU). Thread-safe. The memory
  // may outlive the stream.
  virtual std::shared_ptr<void> HostMemory(size_t bytes) = 0;
};

}  // namespace recpack::train
