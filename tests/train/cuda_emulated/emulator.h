// A CUDA machine in software, for tests without a GPU. It replaces the functions of CUDA's runtime
// that Recpack calls, and provides cuDNN and cuBLASLt behind the trainer's function table. Kernels
// are compiled for the host (kernel_language.h). Work in a stream runs later, either at random or
// when someone waits: in order within the stream, and in any order between streams that no event
// orders, so that a missing wait gives wrong results. Not covered: speed, and behaviour of the real
// libraries and hardware that differs from their documentation.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace recpack::emulated {

struct Options {
  int devices = 2;
  size_t memory = size_t{1} << 30;  // bytes per device
  uint64_t seed = 1;                // for the order in which streams, and threads of a block, run
  bool nvlink = false;              // connects each device with each; else PCI Express does
  // One in so many calls runs some pending work before anyone waits; 0: none does.
  uint32_t early = 8;
};

// Sets up a new machine. All resources of the previous one must have been released. Not
// thread-safe.
void SetUp(const Options& options);

// The call of this name ("cudaMalloc") after the next `skip` of them, on any thread, does nothing
// and returns the error. One at a time; SetUp() clears it.
void FailCall(const std::string& name, cudaError_t error, int skip = 0);

// The same for work on a device: the work is skipped, and the device fails for good: every later
// call for it returns the error.
void FailWork(int device, cudaError_t error, int skip = 0);

// Resources that were not released, and pending work.
struct Live {
  size_t arrays = 0, bytes = 0;  // on devices
  size_t pinned = 0, streams = 0, events = 0, graphs = 0;
  size_t work = 0;
  bool operator==(const Live&) const = default;
};
Live WhatLives();

// Number of calls of this name since SetUp().
size_t Calls(const std::string& name);

}  // namespace recpack::emulated
