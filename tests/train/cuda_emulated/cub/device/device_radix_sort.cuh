// The part of CUB's radix sort that Recpack uses, on the emulated machine.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace cub {

struct DeviceRadixSort {
  // Sorts by the keys' bits [begin, end); stable. Without memory: returns the needed size.
  static cudaError_t SortPairs(void* memory, size_t& bytes, const uint32_t* keys,
                               uint32_t* sorted_keys, const uint32_t* values,
                               uint32_t* sorted_values, uint32_t count, int begin, int end,
                               cudaStream_t stream);
};

}  // namespace cub
