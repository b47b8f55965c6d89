// A CUDA machine in software, for tests where there is no GPU: the functions of CUDA's runtime that
// Recpack calls, linked in their stead, and cuDNN and cuBLASLt behind the trainer's table of
// functions. Kernels are compiled for the host (kernel_language.h). What a stream is given runs
// later: in order within the stream, in any order between streams that no event orders, when
// somebody waits or by chance, so that a wait that is missing gives wrong results. What it cannot
// show: speed, and what real libraries and hardware do otherwise than their documents say.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace recpack::emulated {

struct Options {
  int devices = 2;
  size_t memory = size_t{1} << 30;  // bytes of a device
  uint64_t seed = 1;                // of the order in which streams and threads of a block run
  // One of so many calls runs some of what lies in streams, before anybody waits; 0: none does.
  uint32_t early = 8;
};

// A machine anew. Everything of the one before must have been given back. One thread.
void SetUp(const Options& options);

// The call of this name ("cudaMalloc") after the next `skip` of them, of any thread, does nothing
// but return the error. One at a time; SetUp() forgets it.
void FailCall(const std::string& name, cudaError_t error, int skip = 0);

// The same of what runs on a device: the work is left out, and the device fails for good. Every
// later call for it returns the error.
void FailWork(int device, cudaError_t error, int skip = 0);

// What was made and not given back; work that waits.
struct Live {
  size_t arrays = 0, bytes = 0;  // of devices
  size_t pinned = 0, streams = 0, events = 0, graphs = 0;
  size_t work = 0;
  bool operator==(const Live&) const = default;
};
Live WhatLives();

// How often a call of this name was made since SetUp().
size_t Calls(const std::string& name);

}  // namespace recpack::emulated
