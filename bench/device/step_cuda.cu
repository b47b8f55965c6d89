#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "bench/device/step.h"

namespace recpack::bench {
namespace {

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "feeder_bench: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

// By the device's clock of nanoseconds.
__global__ void Spin(unsigned long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

}  // namespace

DeviceStream NewStream(bool on_device) {
  cudaStream_t stream = nullptr;
  if (on_device) Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  return stream;
}

void Work(DeviceStream stream, bool on_device, double seconds) {
  if (!on_device) return std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  Spin<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(seconds * 1e9));
  Check(cudaGetLastError(), "a step");
}

void WaitFor(DeviceStream stream, bool on_device) {
  if (on_device) Check(cudaStreamSynchronize(stream), "waiting");
}

std::vector<uint8_t> Fetch(const DeviceBatch& batch, size_t array, DeviceStream stream) {
  std::vector<uint8_t> bytes(batch.arrays()[array].sample_bytes * batch.size());
  if (batch.device() < 0) {
    std::memcpy(bytes.data(), batch.Raw(array), bytes.size());
    return bytes;
  }
  Check(
      cudaMemcpyAsync(bytes.data(), batch.Raw(array), bytes.size(), cudaMemcpyDeviceToHost, stream),
      "fetching");
  Check(cudaStreamSynchronize(stream), "waiting");
  return bytes;
}

double CopyRate(bool on_device, size_t bytes) {
  if (!on_device) return 0;
  void *from = nullptr, *to = nullptr;
  Check(cudaHostAlloc(&from, bytes, cudaHostAllocDefault), "pinned memory");
  Check(cudaMalloc(&to, bytes), "memory");
  std::memset(from, 7, bytes);
  std::vector<double> rates;
  for (int i = 0; i < 12; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    Check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying");
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i > 0) rates.push_back(static_cast<double>(bytes) / taken.count());
  }
  Check(cudaFree(to), "freeing");
  Check(cudaFreeHost(from), "freeing");
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

}  // namespace recpack::bench
