// Interface of an accelerator's runtime, for the feeder. Implemented by CUDA
// (recpack::device_cuda), and by the tests, with everything completing late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "recpack/kernels/finish.h"

struct CUstream_st;  // the targets of cudaStream_t and cudaEvent_t
struct CUevent_st;

namespace recpack {

using DeviceStream = CUstream_st*;  // null: the device's default stream
using DeviceEvent = CUevent_st*;

// Purposes of the feeder's waits, which are all that orders accesses to its memory. The runtime
// gets the purpose for messages, and so that tests can skip one.
enum class WaitPoint : uint8_t {
  kFinishAfterCopy,     // finish stream, before it reads what the copy stream writes
  kConsumerAfterReady,  // consumer's stream, before it reads the batch
  kCopyAfterConsumer,   // copy stream, before it overwrites what a consumer's stream reads
  kCopyAfterFinish,     // the same, for a batch that no stream reads
  kReleaseAfterCopy,    // host, before the loader reuses the slab
  kFreeAfterConsumer,   // host, before it frees device memory that a consumer's stream reads
  kFreeAfterFinish,     // the same, for a batch that no stream reads
  // Host, after a failed call, before it releases memory that
  kUnwindCopy,    // is being copied,
  kUnwindFinish,  // is being finished,
  kUnwindReader,  // is being read by a consumer's stream
};
constexpr int kWaitPoints = 10;
const char* WaitPointName(WaitPoint point) noexcept;

struct DeviceInfo {
  std::string name;     // product name
  std::string pci_bus;  // "0000:3b:00.0"; empty: unknown
  size_t memory = 0;    // bytes
};

// Number of devices; if 0, with the reason.
struct DeviceCount {
  int devices = 0;
  std::string reason;
};

// Thread-safe. Calls return before the device has completed the operation unless they are
// documented to wait. They preserve the calling thread's current device. Calls throw Error
// (kDevice) with the call's name and the runtime's message.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;

  virtual DeviceCount Count() = 0;  // does not throw
  virtual DeviceInfo Info(int device) = 0;

  // Allocates device memory, aligned to 256 bytes.
  virtual void* Allocate(int device, size_t bytes) = 0;
  virtual void Free(int device, void* memory) noexcept = 0;

  // Page-locks host memory so that all devices can copy from it asynchronously.
  virtual void Pin(void* memory, size_t bytes) = 0;
  virtual void Unpin(void* memory) noexcept = 0;

  // Creates a stream that does not synchronise implicitly with the default stream.
  virtual DeviceStream CreateStream(int device) = 0;
  virtual void DestroyStream(int device, DeviceStream stream) noexcept = 0;

  // Creates an event. Waiting for an event that was not recorded returns at once.
  virtual DeviceEvent CreateEvent(int device) = 0;
  virtual void DestroyEvent(int device, DeviceEvent event) noexcept = 0;

  // Records the event: it is complete once the stream has completed the work enqueued so far.
  virtual void Record(int device, DeviceEvent event, DeviceStream stream) = 0;
  // Makes work enqueued on the stream from here on wait for the event as last recorded.
  virtual void Wait(int device, DeviceStream stream, DeviceEvent event, WaitPoint point) = 0;
  // Blocks the calling thread, without spinning, until the event as last recorded is complete.
  virtual void Synchronise(int device, DeviceEvent event, WaitPoint point) = 0;
  // Blocks the calling thread until the stream has completed all enqueued work.
  virtual void Drain(int device, DeviceStream stream, WaitPoint point) = 0;

  // Copies from pinned host memory to device memory.
  virtual void Copy(int device, void* to, const void* from, size_t bytes, DeviceStream stream) = 0;
  // Same as LaunchFinish(); all pointers are to device memory.
  virtual void Finish(int device, const FinishOptions& options, const uint8_t* images,
                      const FinishGeometry* geometry, int count, void* out,
                      DeviceStream stream) = 0;
};

// Returns the runtime that the program is linked with: the one of recpack::device_cuda, or null
// with recpack::device_host. The target recpack::accelerator is the one that this build has. The
// runtime is never destroyed; needs no driver.
DeviceRuntime* LinkedRuntime() noexcept;

}  // namespace recpack
