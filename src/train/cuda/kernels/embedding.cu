#include <cub/device/device_radix_sort.cuh>

#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {
namespace {

constexpr uint32_t kLanes = 32;  // threads per row

// Maps value k of a token to its place in an activation.
struct TokenMap {
  uint32_t length, dims;
  bool nhwc;
  __device__ size_t At(uint32_t token, uint32_t k) const {
    if (nhwc) return static_cast<size_t>(token) * dims + k;
    const uint32_t sample = token / length;
    return (static_cast<size_t>(sample) * dims + k) * length + (token - sample * length);
  }
};

TokenMap ToMap(const EmbeddingSpec& spec) {
  return {Count32(spec.length), Count32(spec.dims), spec.layout == ImageLayout::kNhwc};
}

// Threads follow the order of the result.
template <typename T, typename Id>
__global__ void Gather(TokenMap map, uint32_t count, int64_t vocabulary, const Id* ids,
                       const float* table, T* y, LossSums* sums) {
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    uint32_t token = i / map.dims, k = i - token * map.dims;
    if (!map.nhwc) {
      const uint32_t line = i / map.length;
      token = line / map.dims * map.length + (i - line * map.length);
      k = line % map.dims;
    }
    const int64_t id = ids[token];
    const bool known = id > 0 && id < vocabulary;
    y[i] = FromFloat<T>(known ? table[static_cast<size_t>(id) * map.dims + k] : 0);
    // Sums of integers are exact, so their order does not matter.
    if (k == 0 && !known && id != 0) atomicAdd(&sums->bad_labels, 1.0F);
  }
}

// Tokens out of range sort after all others.
template <typename Id>
__global__ void NumberTokens(uint32_t count, uint32_t vocabulary, const Id* ids, uint32_t* keys,
                             uint32_t* places) {
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const int64_t id = ids[i];
    keys[i] = id > 0 && id < vocabulary ? static_cast<uint32_t>(id) : vocabulary;
    places[i] = i;
  }
}

// The thread at the first of a run of equal tokens adds up the run, in batch order, to what is
// there if `add` is set.
template <typename T>
__global__ void AddRows(TokenMap map, uint32_t count, uint32_t vocabulary, const uint32_t* keys,
                        const uint32_t* places, const T* dy, float* d_table, bool add) {
  const uint32_t lane = threadIdx.x % kLanes;
  const uint32_t first = blockIdx.x * (kThreads / kLanes) + threadIdx.x / kLanes;
  if (first >= count) return;
  const uint32_t id = keys[first];
  if (id == vocabulary || (first > 0 && keys[first - 1] == id)) return;
  for (uint32_t k = lane; k < map.dims; k += kLanes) {
    float& row = d_table[static_cast<size_t>(id) * map.dims + k];
    float sum = add ? row : 0;
    for (uint32_t i = first; i < count && keys[i] == id; ++i) {
      sum += ToFloat(dy[map.At(places[i], k)]);
    }
    row = sum;
  }
}

template <typename Body>
void AsId(ElementType type, const Body& body) {
  if (type == ElementType::kI32) {
    body(int32_t{});
  } else {
    body(int64_t{});
  }
}

uint32_t Tokens(const EmbeddingSpec& spec) { return Count32(spec.batch * spec.length); }

// Number of bits in keys up to the vocabulary size.
int KeyBits(const EmbeddingSpec& spec) {
  int bits = 1;
  while (bits < 32 && spec.vocabulary >> bits != 0) ++bits;
  return bits;
}

cudaError_t Sort(const EmbeddingSpec& spec, void* memory, size_t& bytes,
                 const EmbeddingOrder& order, CUstream_st* stream) {
  return cub::DeviceRadixSort::SortPairs(memory, bytes, order.keys, order.sorted_keys, order.places,
                                         order.sorted_places, Tokens(spec), 0, KeyBits(spec),
                                         stream);
}

}  // namespace

size_t EmbeddingSortBytes(const EmbeddingSpec& spec) {
  size_t bytes = 0;
  Check(Sort(spec, nullptr, bytes, {}, nullptr), "cub::DeviceRadixSort::SortPairs");
  return bytes;
}

void LaunchEmbedding(const EmbeddingSpec& spec, const void* ids, const float* table, void* y,
                     LossSums* sums, CUstream_st* stream) {
  const uint32_t count = Count32(spec.batch * spec.length * spec.dims);
  if (count == 0) return;
  AsElement(spec.type, [&](auto element) {
    AsId(spec.id_type, [&](auto id) {
      using T = decltype(element);
      using Id = decltype(id);
      Launch("an embedding", Gather<T, Id>, GridFor(count), dim3(kThreads), stream, ToMap(spec),
             count, spec.vocabulary, static_cast<const Id*>(ids), table, static_cast<T*>(y), sums);
    });
  });
}

void LaunchEmbeddingBackward(const EmbeddingSpec& spec, const void* ids, const void* dy,
                             float* d_table, bool add, const EmbeddingOrder& order,
                             void* sort_memory, size_t sort_bytes, CUstream_st* stream) {
  const uint32_t count = Tokens(spec), vocabulary = Count32(spec.vocabulary);
  if (!add) {
    const auto bytes = static_cast<size_t>(spec.vocabulary * spec.dims) * sizeof(float);
    Check(cudaMemsetAsync(d_table, 0, bytes, stream), "cudaMemsetAsync");
  }
  if (count == 0) return;
  AsId(spec.id_type, [&](auto id) {
    using Id = decltype(id);
    Launch("the numbers of tokens", NumberTokens<Id>, GridFor(count), dim3(kThreads), stream, count,
           vocabulary, static_cast<const Id*>(ids), order.keys, order.places);
  });
  Check(Sort(spec, sort_memory, sort_bytes, order, stream), "cub::DeviceRadixSort::SortPairs");
  AsElement(spec.type, [&](auto element) {
    using T = decltype(element);
    constexpr uint32_t kOfBlock = kThreads / kLanes;
    Launch("an embedding's gradient", AddRows<T>, dim3((count + kOfBlock - 1) / kOfBlock),
           dim3(kThreads), stream, ToMap(spec), count, vocabulary,
           static_cast<const uint32_t*>(order.sorted_keys),
           static_cast<const uint32_t*>(order.sorted_places), static_cast<const T*>(dy), d_table,
           add);
  });
}

}  // namespace recpack::train
