#include "kernels/cuda/fast_divide.h"
#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {
namespace {

template <typename From, typename To, int kCount>
__global__ void Cast(size_t groups, const From* from, To* to) {
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < groups; i += step) {
    float value[kCount];
    Load(from + i * kCount, value);
    Store(value, to + i * kCount);
  }
}

// Within each image, `to` has rows of `of_row` values where `from` has columns.
template <typename From, typename To>
__global__ void Transpose(uint32_t elements, uint32_t of_row, uint32_t rows, FastDivide by_row,
                          FastDivide by_rows, const From* from, To* to) {
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < elements; i += gridDim.x * kThreads) {
    const uint32_t line = by_row(i), column = i - line * of_row;
    const uint32_t picture = by_rows(line), row = line - picture * rows;
    const size_t start = static_cast<size_t>(picture) * of_row * rows;
    float value[1];
    Load(from + start + static_cast<size_t>(column) * rows + row, value);
    Store(value, to + i);
  }
}

template <typename From, typename To>
void Start(const Tensor& source, const Tensor& target, bool turned, cudaStream_t stream) {
  const auto* from = source.As<const From>();
  auto* to = target.As<To>();
  const auto elements = static_cast<size_t>(target.elements());
  if (elements == 0) return;
  if (!turned) {
    constexpr int kWide = 4;
    const bool vectors = elements % kWide == 0 && Aligned(from, to);
    const size_t groups = vectors ? elements / kWide : elements;
    Launch("a conversion", vectors ? Cast<From, To, kWide> : Cast<From, To, 1>, GridFor(groups),
           dim3(kThreads), stream, groups, from, to);
    return;
  }
  const uint32_t count = Count32(target.elements());
  const auto channels = static_cast<uint32_t>(target.shape[1]);
  const auto plane = static_cast<uint32_t>(target.shape[2] * target.shape[3]);
  const bool to_nhwc = target.layout == ImageLayout::kNhwc;
  const uint32_t of_row = to_nhwc ? channels : plane, rows = to_nhwc ? plane : channels;
  Launch("a change of layout", Transpose<From, To>, GridFor(count), dim3(kThreads), stream, count,
         of_row, rows, FastDivide(of_row), FastDivide(rows), from, to);
}

}  // namespace

void LaunchConvert(const Tensor& from, const Tensor& to, CUstream_st* stream) {
  const bool turned = to.shape.size() == 4 && from.layout != to.layout;
  AsElement(from.type, [&](auto one) {
    AsElement(to.type,
              [&](auto other) { Start<decltype(one), decltype(other)>(from, to, turned, stream); });
  });
}

}  // namespace recpack::train
