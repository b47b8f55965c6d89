#include "tests/train/cuda_emulated/library_work.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <numeric>
#include <vector>

#include "tests/train/cuda_emulated/machine.h"

namespace recpack::emulated {
namespace {

constexpr size_t kMostGarbage = size_t{1} << 16;  // of a workspace: more would be slow

}  // namespace

bool SubmitLibraryWork(cudaStream_t handle, void* workspace, size_t workspace_bytes,
                       std::function<void()> run) {
  return Call("a library's work", [&](Machine& machine) {
           const auto stream = machine.StreamOf(handle);
           if (!stream || (*stream)->device != CurrentDevice()) {
             return cudaErrorInvalidResourceHandle;
           }
           if (workspace_bytes > 0 && !machine.memory.Holds(workspace, workspace_bytes)) {
             return cudaErrorInvalidValue;
           }
           return machine.Submit(*stream, Node::Kind::kKernel, [=, run = std::move(run)] {
             FillWithGarbage(workspace, std::min(workspace_bytes, kMostGarbage));
             run();
           });
         }) == cudaSuccess;
}

float GetElement(const void* array, bool bf16, size_t index) {
  return bf16 ? __bfloat162float(static_cast<const __nv_bfloat16*>(array)[index])
              : static_cast<const float*>(array)[index];
}

void SetElement(void* array, bool bf16, size_t index, float value) {
  if (bf16) {
    static_cast<__nv_bfloat16*>(array)[index] = __float2bfloat16_rn(value);
  } else {
    static_cast<float*>(array)[index] = value;
  }
}

}  // namespace recpack::emulated

namespace recpack::train {

const CudaLibraries& LoadCudaLibraries() {
  static const CudaLibraries libraries = [] {
    CudaLibraries all{};
    emulated::FillCudnn(&all);
    emulated::FillCublas(&all);
    return all;
  }();
  return libraries;
}

}  // namespace recpack::train

namespace cub {

cudaError_t DeviceRadixSort::SortPairs(void* memory, size_t& bytes, const uint32_t* keys,
                                       uint32_t* sorted_keys, const uint32_t* values,
                                       uint32_t* sorted_values, uint32_t count, int begin, int end,
                                       cudaStream_t stream) {
  const size_t needed = 64 + size_t{count} * 8;
  if (!memory) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed || begin < 0 || end > 32 || begin > end) return cudaErrorInvalidValue;
  const bool done = recpack::emulated::SubmitLibraryWork(stream, memory, needed, [=] {
    const auto key = [=](uint32_t i) { return (keys[i] & ((uint64_t{1} << end) - 1)) >> begin; };
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (uint32_t i = 0; i < count; ++i) {
      sorted_keys[i] = keys[order[i]];
      sorted_values[i] = values[order[i]];
    }
  });
  return done ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace cub
