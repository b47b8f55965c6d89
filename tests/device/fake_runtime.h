// Fake device runtime: devices in host memory, which do everything as late as possible.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "recpack/device/runtime.h"

namespace recpack {

// Work is done as late as possible: when the host waits for it (kLazy, on the waiting thread), or
// after a delay by one thread per stream (kThreads). Order is kept within a stream, and between
// streams only through events.
//
// Reports a violation for two accesses to memory that are not ordered, if one is a write, whatever
// order they happened in; for memory freed or unpinned while it may be in use; and for host memory
// that changed before it was copied. Vector clocks of streams and host determine the order, from
// the calls made, not from when work was done.
class FakeRuntime final : public DeviceRuntime {
 public:
  enum class Mode { kLazy, kThreads };
  FakeRuntime(int devices, Mode mode, size_t memory = size_t{1} << 30);
  ~FakeRuntime() override;

  // For tests ----------------------------------------------------------------------------------
  // Skips the waits at this point.
  void Skip(WaitPoint point) { skipped_.insert(point); }
  // Makes the `nth` call (from 0) of this name fail. If it is a wait for an event, the device is
  // dead.
  void FailCall(const std::string& call, int nth);
  // Enqueues a read of device memory on a stream; the bytes are available after the stream was
  // drained.
  std::shared_ptr<std::vector<uint8_t>> Read(int device, const void* from, size_t bytes,
                                             DeviceStream stream);
  void Drain(int device, DeviceStream stream);  // like a user, at no wait point

  std::vector<std::string> violations();
  int waits(WaitPoint point);          // number of waits
  int calls(const std::string& call);  // number of calls
  std::string leaks();                 // objects that were not destroyed

  // DeviceRuntime ------------------------------------------------------------------------------
  DeviceCount Count() override;
  DeviceInfo Info(int device) override;
  void* Allocate(int device, size_t bytes) override;
  void Free(int device, void* memory) noexcept override;
  void Pin(void* memory, size_t bytes) override;
  void Unpin(void* memory) noexcept override;
  DeviceStream CreateStream(int device) override;
  void DestroyStream(int device, DeviceStream stream) noexcept override;
  DeviceEvent CreateEvent(int device) override;
  void DestroyEvent(int device, DeviceEvent event) noexcept override;
  void Record(int device, DeviceEvent event, DeviceStream stream) override;
  void Wait(int device, DeviceStream stream, DeviceEvent event, WaitPoint point) override;
  void Synchronise(int device, DeviceEvent event, WaitPoint point) override;
  void Drain(int device, DeviceStream stream, WaitPoint point) override;
  void Copy(int device, void* to, const void* from, size_t bytes, DeviceStream stream) override;
  void Finish(int device, const FinishOptions& options, const uint8_t* images,
              const FinishGeometry* geometry, int count, void* out, DeviceStream stream) override;

 private:
  // Vector clock: highest operation number of each stream known to be done.
  using Clock = std::map<int, uint64_t>;
  struct Stream;
  struct Op;
  struct Event;
  struct Access;
  struct Range;

  Stream& StreamOf(int device, DeviceStream stream);
  Event& EventOf(DeviceEvent event);
  void Call(const std::string& call, int device);
  void Violate(const std::string& what);
  std::shared_ptr<Op> Enqueue(Stream& stream, const std::string& name, std::vector<Range> ranges,
                              std::function<void()> work);
  void CheckOrder(const Access& access);
  void CheckUnused(const char* call, const void* memory, size_t bytes);
  void CheckOwned(int device, const void* memory, size_t bytes, const std::string& call);
  void WaitFor(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Op>& op);
  void Die();
  void DoUpTo(const std::shared_ptr<Op>& op);
  void RunStream(Stream& stream, std::stop_token stop);

  const int devices_;
  const Mode mode_;
  const size_t memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<WaitPoint> skipped_;
  std::map<std::string, std::set<int>> failing_;
  std::map<std::string, int> calls_;
  std::map<WaitPoint, int> waits_;
  std::mutex violations_mutex_;
  std::vector<std::string> violations_;
  std::map<DeviceStream, std::shared_ptr<Stream>> streams_;
  std::map<DeviceEvent, std::shared_ptr<Event>> events_;
  std::map<const void*, std::pair<int, std::vector<uint8_t>>> device_memory_;
  std::map<const void*, size_t> pinned_;
  std::vector<Access> accesses_;
  Clock host_;
  int streams_made_ = 0;
  size_t used_ = 0;
  bool dead_ = false;
};

}  // namespace recpack
