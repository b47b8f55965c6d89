// Emulated CUDA runtime: devices and errors.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#include "tests/train/cuda_emulated/machine.h"

namespace recpack::emulated {
namespace {

bool Exists(const Machine& machine, int device) {
  return device >= 0 && device < machine.options.devices;
}

const char* NameOf(cudaError_t error) {
  switch (error) {
#define RECPACK_NAME(name) \
  case name:               \
    return #name
    RECPACK_NAME(cudaSuccess);
    RECPACK_NAME(cudaErrorInvalidValue);
    RECPACK_NAME(cudaErrorMemoryAllocation);
    RECPACK_NAME(cudaErrorInvalidConfiguration);
    RECPACK_NAME(cudaErrorNoDevice);
    RECPACK_NAME(cudaErrorInvalidDevice);
    RECPACK_NAME(cudaErrorIllegalAddress);
    RECPACK_NAME(cudaErrorInvalidResourceHandle);
    RECPACK_NAME(cudaErrorIllegalState);
    RECPACK_NAME(cudaErrorNotReady);
    RECPACK_NAME(cudaErrorPeerAccessAlreadyEnabled);
    RECPACK_NAME(cudaErrorPeerAccessNotEnabled);
    RECPACK_NAME(cudaErrorHostMemoryAlreadyRegistered);
    RECPACK_NAME(cudaErrorHostMemoryNotRegistered);
    RECPACK_NAME(cudaErrorLaunchFailure);
    RECPACK_NAME(cudaErrorNotSupported);
    RECPACK_NAME(cudaErrorStreamCaptureUnsupported);
    RECPACK_NAME(cudaErrorStreamCaptureInvalidated);
    RECPACK_NAME(cudaErrorStreamCaptureMerge);
    RECPACK_NAME(cudaErrorStreamCaptureUnmatched);
    RECPACK_NAME(cudaErrorStreamCaptureUnjoined);
    RECPACK_NAME(cudaErrorStreamCaptureIsolation);
    RECPACK_NAME(cudaErrorStreamCaptureImplicit);
    RECPACK_NAME(cudaErrorCapturedEvent);
    RECPACK_NAME(cudaErrorStreamCaptureWrongThread);
    RECPACK_NAME(cudaErrorGraphExecUpdateFailure);
#undef RECPACK_NAME
    default:
      return "cudaErrorUnknown";
  }
}

}  // namespace
}  // namespace recpack::emulated

using namespace recpack::emulated;  // NOLINT: their functions are CUDA's

const char* CUDARTAPI cudaGetErrorName(cudaError_t error) { return NameOf(error); }
const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "an error of the emulated machine";
}
cudaError_t CUDARTAPI cudaGetLastError() { return std::exchange(LastError(), cudaSuccess); }
cudaError_t CUDARTAPI cudaPeekAtLastError() { return LastError(); }

cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
  return Call("cudaGetDeviceCount", [&](const Machine& machine) {
    *count = machine.options.devices;
    return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaSetDevice(int device) {
  return Call("cudaSetDevice", [&](const Machine& machine) {
    if (!Exists(machine, device)) return cudaErrorInvalidDevice;
    CurrentDevice() = device;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  return Call("cudaGetDevice", [&](const Machine& machine) {
    if (machine.devices.empty()) return cudaErrorNoDevice;
    *device = CurrentDevice();
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return Call("cudaGetDeviceProperties", [&](const Machine& machine) {
    if (!Exists(machine, device)) return cudaErrorInvalidDevice;
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "emulated GPU %d", device);
    properties->totalGlobalMem = machine.options.memory;
    properties->multiProcessorCount = 4;
    properties->major = 9;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->asyncEngineCount = 2;
    properties->pciBusID = device + 1;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return Call("cudaDeviceGetPCIBusId", [&](const Machine& machine) {
    if (!Exists(machine, device)) return cudaErrorInvalidDevice;
    const int length = std::snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0", device + 1);
    return length < size ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t* free, size_t* total) {
  return Call("cudaMemGetInfo", [&](const Machine& machine) {
    if (!Exists(machine, CurrentDevice())) return cudaErrorInvalidDevice;
    *total = machine.options.memory;
    *free = *total - machine.memory.BytesOf(CurrentDevice());
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaDeviceSynchronize() {
  return Call("cudaDeviceSynchronize", Safety::kUnsafe, [&](Machine& machine) {
    if (!Exists(machine, CurrentDevice())) return cudaErrorInvalidDevice;
    machine.streams.RunAllOf(CurrentDevice());
    return machine.devices[static_cast<size_t>(CurrentDevice())].failed;
  });
}

cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return Call("cudaDeviceCanAccessPeer", [&](const Machine& machine) {
    if (!Exists(machine, device) || !Exists(machine, peer)) return cudaErrorInvalidDevice;
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                                int peer) {
  return Call("cudaDeviceGetP2PAttribute", [&](const Machine& machine) {
    if (!Exists(machine, device) || !Exists(machine, peer)) return cudaErrorInvalidDevice;
    if (device == peer || attribute != cudaDevP2PAttrNativeAtomicSupported) {
      return cudaErrorInvalidValue;
    }
    *value = machine.options.nvlink ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return Call("cudaDeviceEnablePeerAccess", [&](Machine& machine) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!Exists(machine, peer) || peer == CurrentDevice()) return cudaErrorInvalidDevice;
    auto& peers = machine.devices[static_cast<size_t>(CurrentDevice())].peers;
    return peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peer) {
  return Call("cudaDeviceDisablePeerAccess", [&](Machine& machine) {
    auto& peers = machine.devices[static_cast<size_t>(CurrentDevice())].peers;
    return peers.erase(peer) > 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}
