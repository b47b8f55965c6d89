// Helpers that the kernels share: vector loads and stores of up to 16 bytes with conversion to f32,
// and kernel launches.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "recpack/base/error.h"
#include "recpack/kernels/finish.h"
#include "recpack/loader/array_spec.h"
#include "src/train/cuda/runtime/errors.h"

namespace recpack::train {

constexpr uint32_t kThreads = 256;   // per block
constexpr uint32_t kBlocks = 8192;   // more work is done in a grid-stride loop
constexpr size_t kVectorBytes = 16;  // bytes per load

template <typename T>
inline constexpr int kVector = static_cast<int>(kVectorBytes / sizeof(T));

template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < kVectorBytes ? sizeof(T) * kCount : kVectorBytes) Pack {
  T of[kCount];
};

__device__ inline float ToFloat(float value) { return value; }
__device__ inline float ToFloat(__nv_bfloat16 value) { return __bfloat162float(value); }

template <typename T>
__device__ T FromFloat(float value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else {
    return __float2bfloat16_rn(value);
  }
}

template <typename T, int kCount>
__device__ void Load(const T* from, float (&to)[kCount]) {
  const auto pack = *reinterpret_cast<const Pack<T, kCount>*>(from);
  for (int j = 0; j < kCount; ++j) to[j] = ToFloat(pack.of[j]);
}

template <typename T, int kCount>
__device__ void Store(const float (&from)[kCount], T* to) {
  Pack<T, kCount> pack;
  for (int j = 0; j < kCount; ++j) pack.of[j] = FromFloat<T>(from[j]);
  *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
}

// Keeps NaN, so that it is found where it arose.
__device__ inline float Rectify(float value) { return value < 0 ? 0 : value; }

template <typename... Parameters, typename... Arguments>
void Launch(const char* what, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  Check(cudaLaunchKernelEx(&config, kernel, arguments...), what);
}

// Grid of a kernel whose threads loop over `count` items.
inline dim3 GridFor(size_t count) {
  return dim3(
      static_cast<uint32_t>(std::min<size_t>((count + kThreads - 1) / kThreads, size_t{kBlocks})));
}

// Calls body(T{}) with T float or __nv_bfloat16.
template <typename Body>
void AsElement(ElementType type, const Body& body) {
  if (type == ElementType::kF32) {
    body(float{});
  } else if (type == ElementType::kBf16) {
    body(__nv_bfloat16{});
  } else {
    throw Error(ErrorKind::kUnsupported, "CUDA devices support f32 and bf16 only");
  }
}

// Calls body(std::integral_constant<int, n>) with n the vector length, or 1.
template <typename T, typename Body>
void AsVector(bool vectors, const Body& body) {
  if (vectors) {
    body(std::integral_constant<int, kVector<T>>());
  } else {
    body(std::integral_constant<int, 1>());
  }
}

// Returns true if all pointers allow vector loads, or are null.
template <typename... Pointers>
bool Aligned(const Pointers*... pointers) {
  return ((reinterpret_cast<uintptr_t>(pointers) % kVectorBytes == 0) && ...);
}

// Checks a count for 32-bit indexing.
inline uint32_t Count32(int64_t count) {
  if (count < 0 || count >= int64_t{1} << 31) {
    throw Error(ErrorKind::kUnsupported,
                "an array has " + std::to_string(count) +
                    " elements; a CUDA device takes fewer "
                    "than 2^31",
                {}, "use a smaller batch");
  }
  return static_cast<uint32_t>(count);
}

}  // namespace recpack::train
