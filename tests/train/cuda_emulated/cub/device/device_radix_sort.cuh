// What Recpack uses of CUB's sort, on the emulated machine.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace cub {

struct DeviceRadixSort {
  // By the keys' bits from `begin` to before `end`; stable. Without memory: says how much it needs.
  static cudaError_t SortPairs(void* memory, size_t& bytes, const uint32_t* keys,
                               uint32_t* sorted_keys, const uint32_t* values,
                               uint32_t* sorted_values, uint32_t count, int begin, int end,
                               cudaStream_t stream);
};

}  // namespace cub
