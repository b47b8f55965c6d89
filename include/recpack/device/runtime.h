// What the feeder asks of an accelerator's runtime. CUDA implements it (recpack::device_cuda), and
// so do the tests, to complete everything late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "recpack/kernels/finish.h"

struct CUstream_st;  // what cudaStream_t and cudaEvent_t point to
struct CUevent_st;

namespace recpack {

using DeviceStream = CUstream_st*;  // null: the device's default stream
using DeviceEvent = CUevent_st*;

// Every wait of the feeder and what it is for: nothing else orders its memory. The runtime is told
// which one it serves, for messages and so that tests can leave one out.
enum class WaitPoint : uint8_t {
  kFinishAfterCopy,     // the finish stream, before it reads what the copy stream brings
  kConsumerAfterReady,  // the consumer's stream, before it reads the batch
  kCopyAfterConsumer,   // the copy stream, before it overwrites what a consumer's stream reads
  kCopyAfterFinish,     // the same, of a batch that no stream was to read
  kReleaseAfterCopy,    // the host, before the loader writes the slab anew
  kFreeAfterConsumer,   // the host, before device memory that a consumer's stream reads is freed
  kFreeAfterFinish,     // the same, of a batch that no stream was to read
  // The host, once a call has failed: before it gives back what had begun to be
  kUnwindCopy,    // copied,
  kUnwindFinish,  // finished,
  kUnwindReader,  // read by a consumer's stream.
};
constexpr int kWaitPoints = 10;
const char* WaitPointName(WaitPoint point) noexcept;

struct DeviceInfo {
  std::string name;     // as its maker calls it
  std::string pci_bus;  // "0000:3b:00.0"; empty: unknown
  size_t memory = 0;    // bytes
};

// How many devices there are, and if none, why.
struct DeviceCount {
  int devices = 0;
  std::string reason;
};

// Any thread, and at once. Calls return before the device has done what they ask for, unless they
// say that they wait. They leave the calling thread's current device as it was. Throws Error
// (kDevice) with the call's name and what the runtime says of it.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;

  virtual DeviceCount Count() = 0;  // throws nothing
  virtual DeviceInfo Info(int device) = 0;

  // Memory of the device, aligned to 256.
  virtual void* Allocate(int device, size_t bytes) = 0;
  virtual void Free(int device, void* memory) noexcept = 0;

  // Locks pages of the host, so that all devices copy from them by themselves.
  virtual void Pin(void* memory, size_t bytes) = 0;
  virtual void Unpin(void* memory) noexcept = 0;

  // A stream with no implicit order behind the default stream's.
  virtual DeviceStream CreateStream(int device) = 0;
  virtual void DestroyStream(int device, DeviceStream stream) noexcept = 0;

  // An event. Until it is recorded, waiting for it is nothing.
  virtual DeviceEvent CreateEvent(int device) = 0;
  virtual void DestroyEvent(int device, DeviceEvent event) noexcept = 0;

  // The event is complete once the stream has done all that was enqueued up to here.
  virtual void Record(int device, DeviceEvent event, DeviceStream stream) = 0;
  // What is enqueued on the stream from here on begins once the event as last recorded is complete.
  virtual void Wait(int device, DeviceStream stream, DeviceEvent event, WaitPoint point) = 0;
  // The calling thread waits, without spinning, for the event as last recorded.
  virtual void Synchronise(int device, DeviceEvent event, WaitPoint point) = 0;
  // The calling thread waits for all that was enqueued on the stream.
  virtual void Drain(int device, DeviceStream stream, WaitPoint point) = 0;

  // From pinned memory of the host to the device's.
  virtual void Copy(int device, void* to, const void* from, size_t bytes, DeviceStream stream) = 0;
  // As LaunchFinish(), all in the device's memory.
  virtual void Finish(int device, const FinishOptions& options, const uint8_t* images,
                      const FinishGeometry* geometry, int count, void* out,
                      DeviceStream stream) = 0;
};

// The runtime that the program was linked with: that of recpack::device_cuda, or null from
// recpack::device_host; recpack::accelerator stands for the one of them that this build has. Lives
// for ever, and needs no driver to be there.
DeviceRuntime* LinkedRuntime() noexcept;

}  // namespace recpack
