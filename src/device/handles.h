// RAII wrappers for a runtime's streams, events and device memory.
#pragma once

#include <cstddef>
#include <utility>

#include "recpack/device/runtime.h"

namespace recpack {

class StreamHandle {
 public:
  StreamHandle(DeviceRuntime& runtime, int device)
      : runtime_(runtime), device_(device), stream_(runtime.CreateStream(device)) {}
  ~StreamHandle() { runtime_.DestroyStream(device_, stream_); }
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  DeviceStream get() const noexcept { return stream_; }

 private:
  DeviceRuntime& runtime_;
  int device_;
  DeviceStream stream_;
};

class EventHandle {
 public:
  EventHandle(DeviceRuntime& runtime, int device)
      : runtime_(runtime), device_(device), event_(runtime.CreateEvent(device)) {}
  ~EventHandle() { runtime_.DestroyEvent(device_, event_); }
  EventHandle(const EventHandle&) = delete;
  EventHandle& operator=(const EventHandle&) = delete;
  DeviceEvent get() const noexcept { return event_; }

 private:
  DeviceRuntime& runtime_;
  int device_;
  DeviceEvent event_;
};

class DeviceMemory {
 public:
  DeviceMemory(DeviceRuntime& runtime, int device, size_t bytes)
      : runtime_(runtime), device_(device), memory_(runtime.Allocate(device, bytes)) {}
  ~DeviceMemory() { runtime_.Free(device_, memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  uint8_t* get() const noexcept { return static_cast<uint8_t*>(memory_); }

 private:
  DeviceRuntime& runtime_;
  int device_;
  void* memory_;
};

}  // namespace recpack
