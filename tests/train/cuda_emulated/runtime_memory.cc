// Emulated CUDA runtime: device and host memory.
#include <cuda_runtime.h>

#include <cstring>
#include <memory>
#include <string>

#include "tests/train/cuda_emulated/machine.h"

namespace recpack::emulated {
namespace {

// One side of a copy.
struct Side {
  uint32_t device = 0;  // a bit; 0: the host's
  bool fits = true;     // lies within one array
  bool pinned = false;
};

Side SideOf(const Machine& machine, const void* memory, size_t bytes) {
  if (const auto array = machine.memory.Find(memory)) {
    return {.device = 1u << array->device, .fits = machine.memory.Holds(memory, bytes)};
  }
  return {.pinned = machine.Pinned(memory)};
}

bool Matches(cudaMemcpyKind kind, const Side& to, const Side& from) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return to.device && !from.device;
    case cudaMemcpyDeviceToHost:
      return !to.device && from.device;
    case cudaMemcpyDeviceToDevice:
      return to.device && from.device;
    case cudaMemcpyHostToHost:
      return !to.device && !from.device;
    default:
      return true;
  }
}

// Pageable host memory is read before the call returns, and written by then.
cudaError_t Copy(Machine& machine, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t handle) {
  const auto stream = machine.StreamOf(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return cudaSuccess;
  const Side target = SideOf(machine, to, bytes), source = SideOf(machine, from, bytes);
  if (!target.fits || !source.fits || !Matches(kind, target, source)) return cudaErrorInvalidValue;
  const bool captured = (*stream)->capture != nullptr;
  std::function<void()> run = [to, from, bytes] { std::memmove(to, from, bytes); };
  if (!source.device && !source.pinned && !captured) {
    auto staged = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
    run = [to, staged] { std::memcpy(to, staged->data(), staged->size()); };
  }
  const cudaError_t error =
      machine.Submit(*stream, Node::Kind::kCopy, std::move(run), target.device | source.device);
  if (error != cudaSuccess || captured || target.device || target.pinned) return error;
  machine.streams.RunUntil((*stream)->last);
  return machine.devices[static_cast<size_t>((*stream)->device)].failed;
}

// Between arrays of devices.
cudaError_t CopyRows(Machine& machine, void* to, size_t to_pitch, const void* from,
                     size_t from_pitch, size_t bytes, size_t rows, cudaStream_t handle) {
  const auto stream = machine.StreamOf(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (bytes > to_pitch || bytes > from_pitch) return cudaErrorInvalidPitchValue;
  if (bytes == 0 || rows == 0) return cudaSuccess;
  const Side target = SideOf(machine, to, (rows - 1) * to_pitch + bytes);
  const Side source = SideOf(machine, from, (rows - 1) * from_pitch + bytes);
  if (!target.fits || !source.fits || !Matches(cudaMemcpyDeviceToDevice, target, source)) {
    return cudaErrorInvalidValue;
  }
  const auto run = [=] {
    for (size_t i = 0; i < rows; ++i) {
      std::memcpy(static_cast<char*>(to) + i * to_pitch,
                  static_cast<const char*>(from) + i * from_pitch, bytes);
    }
  };
  return machine.Submit(*stream, Node::Kind::kCopy, run, target.device | source.device);
}

cudaError_t Fill(Machine& machine, void* to, int value, size_t bytes, cudaStream_t handle) {
  const auto stream = machine.StreamOf(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return cudaSuccess;
  const Side target = SideOf(machine, to, bytes);
  if (!target.device || !target.fits) return cudaErrorInvalidValue;
  return machine.Submit(
      *stream, Node::Kind::kFill, [=] { std::memset(to, value, bytes); }, target.device);
}

cudaError_t Wait(Machine& machine) {
  machine.streams.RunUntil((*machine.StreamOf(nullptr))->last);
  return machine.devices[static_cast<size_t>(CurrentDevice())].failed;
}

}  // namespace
}  // namespace recpack::emulated

using namespace recpack::emulated;  // NOLINT: their functions are CUDA's

cudaError_t CUDARTAPI cudaMalloc(void** memory, size_t bytes) {
  return Call("cudaMalloc", Safety::kUnsafe, [&](Machine& machine) {
    const int device = CurrentDevice();
    if (device >= machine.options.devices) return cudaErrorInvalidDevice;
    const cudaError_t failed = machine.devices[static_cast<size_t>(device)].failed;
    if (failed != cudaSuccess) return failed;
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > machine.options.memory - machine.memory.BytesOf(device)) {
      return cudaErrorMemoryAllocation;
    }
    *memory = machine.memory.Allocate(device, bytes);
    return cudaSuccess;
  });
}

// Waits for the device that owns the memory, as CUDA does.
cudaError_t CUDARTAPI cudaFree(void* memory) {
  return Call("cudaFree", Safety::kUnsafe, [&](Machine& machine) {
    if (!memory) return cudaSuccess;
    const auto array = machine.memory.Find(memory);
    if (!array) return cudaErrorInvalidValue;
    machine.streams.RunAllOf(array->device);
    return machine.memory.Free(memory) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t CUDARTAPI cudaHostRegister(void* memory, size_t bytes, unsigned) {
  return Call("cudaHostRegister", Safety::kUnsafe, [&](Machine& machine) {
    if (!memory || bytes == 0) return cudaErrorInvalidValue;
    const bool added = machine.pinned.emplace(static_cast<const char*>(memory), bytes).second;
    return added ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}

// Does not wait for copies: the caller does.
cudaError_t CUDARTAPI cudaHostUnregister(void* memory) {
  return Call("cudaHostUnregister", Safety::kUnsafe, [&](Machine& machine) {
    return machine.pinned.erase(static_cast<const char*>(memory)) > 0
               ? cudaSuccess
               : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t CUDARTAPI cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  return Call("cudaHostAlloc", Safety::kUnsafe, [&](Machine& machine) {
    if (bytes == 0) return cudaErrorInvalidValue;
    *memory = ::operator new(bytes);
    FillWithGarbage(*memory, bytes);
    machine.pinned.emplace(static_cast<const char*>(*memory), bytes);
    return cudaSuccess;
  });
}
cudaError_t CUDARTAPI cudaMallocHost(void** memory, size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
}

cudaError_t CUDARTAPI cudaFreeHost(void* memory) {
  return Call("cudaFreeHost", Safety::kUnsafe, [&](Machine& machine) {
    if (!memory) return cudaSuccess;
    if (machine.pinned.erase(static_cast<const char*>(memory)) == 0) return cudaErrorInvalidValue;
    machine.streams.RunAll();
    ::operator delete(memory);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return Call("cudaMemcpyAsync",
              [&](Machine& machine) { return Copy(machine, to, from, bytes, kind, stream); });
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                        size_t from_pitch, size_t bytes, size_t rows,
                                        cudaMemcpyKind kind, cudaStream_t stream) {
  return Call("cudaMemcpy2DAsync", [&](Machine& machine) {
    if (kind != cudaMemcpyDeviceToDevice) return cudaErrorNotSupported;
    return CopyRows(machine, to, to_pitch, from, from_pitch, bytes, rows, stream);
  });
}

cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                          int from_device, size_t bytes, cudaStream_t stream) {
  return Call("cudaMemcpyPeerAsync", [&](Machine& machine) {
    const auto lies = [&](const void* memory, int device) {
      const auto array = machine.memory.Find(memory);
      return array && array->device == device;
    };
    if (!lies(to, to_device) || !lies(from, from_device)) return cudaErrorInvalidValue;
    return Copy(machine, to, from, bytes, cudaMemcpyDeviceToDevice, stream);
  });
}

cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Call("cudaMemcpy", Safety::kUnsafe, [&](Machine& machine) {
    const cudaError_t error = Copy(machine, to, from, bytes, kind, nullptr);
    return error == cudaSuccess ? Wait(machine) : error;
  });
}

cudaError_t CUDARTAPI cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return Call("cudaMemsetAsync",
              [&](Machine& machine) { return Fill(machine, to, value, bytes, stream); });
}

cudaError_t CUDARTAPI cudaMemset(void* to, int value, size_t bytes) {
  return Call("cudaMemset", Safety::kUnsafe,
              [&](Machine& machine) { return Fill(machine, to, value, bytes, nullptr); });
}

cudaError_t CUDARTAPI cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                               const void* memory) {
  return Call("cudaPointerGetAttributes", [&](const Machine& machine) {
    *attributes = {};
    auto* const place = const_cast<void*>(memory);
    if (const auto array = machine.memory.Find(memory)) {
      attributes->type = cudaMemoryTypeDevice;
      attributes->device = array->device;
      attributes->devicePointer = place;
    } else if (machine.Pinned(memory)) {
      attributes->type = cudaMemoryTypeHost;
      attributes->devicePointer = attributes->hostPointer = place;
    } else {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = -1;
      attributes->hostPointer = place;
    }
    return cudaSuccess;
  });
}
