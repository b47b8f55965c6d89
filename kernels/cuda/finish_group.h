// Work of one device thread. Also compiled for the host, so that tests can run all threads without
// a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/fast_divide.h"
#include "kernels/finish.h"
#if defined(__CUDA_ARCH__)
#include <cuda_fp16.h>
#endif

namespace recpack {

// Elements that a thread writes at once, if rows are a multiple of it.
constexpr uint32_t kFinishGroup = 4;

// Parameters of one batch, the same for all threads. A row belongs to one plane, or has all
// channels if the result is interleaved.
struct FinishGrid {
  FinishOptions options;
  uint32_t group;   // elements per group: kFinishGroup or 1
  uint32_t groups;  // per image
  uint32_t groups_per_row;
  size_t in_image;       // elements of a source image
  size_t out_image;      // elements of a result
  FastDivide by_row;     // divides by groups_per_row
  FastDivide by_height;  // divides by out_height
  FastDivide by_channels;
};

// Options must be valid and results have fewer than 2^31 elements. `out_alignment`: alignment of
// the results' memory, in bytes.
inline FinishGrid MakeGrid(const FinishOptions& o, size_t out_alignment) {
  const auto channels = static_cast<uint32_t>(o.channels);
  const auto width = static_cast<uint32_t>(o.out_width);
  const uint32_t row = width * (o.out_layout == ImageLayout::kNhwc ? channels : 1);
  const size_t pixels = static_cast<size_t>(o.out_height) * width;
  FinishGrid grid{.options = o};
  const bool groups =
      row % kFinishGroup == 0 && out_alignment % (kFinishGroup * ElementBytes(o.type)) == 0;
  grid.group = groups ? kFinishGroup : 1;
  grid.groups = static_cast<uint32_t>(pixels * channels / grid.group);
  grid.groups_per_row = row / grid.group;
  grid.in_image = static_cast<size_t>(o.in_height) * static_cast<size_t>(o.in_width) * channels;
  grid.out_image = pixels * channels;
  grid.by_row = FastDivide(grid.groups_per_row);
  grid.by_height = FastDivide(static_cast<uint32_t>(o.out_height));
  grid.by_channels = FastDivide(channels);
  return grid;
}

template <ElementType kType>
struct ElementStorage {
  using Type = uint16_t;
};
template <>
struct ElementStorage<ElementType::kU8> {
  using Type = uint8_t;
};
template <>
struct ElementStorage<ElementType::kF32> {
  using Type = float;
};

template <ElementType kType>
RECPACK_HOST_DEVICE inline typename ElementStorage<kType>::Type MakeElement(uint8_t value,
                                                                            float scale,
                                                                            float bias) {
  if constexpr (kType == ElementType::kU8) {
    return value;
  } else if constexpr (kType == ElementType::kF32) {
    return Normalise(value, scale, bias);
  } else if constexpr (kType == ElementType::kBf16) {
    return ToBf16(Normalise(value, scale, bias));
  } else {
#if defined(__CUDA_ARCH__)
    return __half_as_ushort(__float2half_rn(Normalise(value, scale, bias)));  // one instruction
#else
    return ToF16(Normalise(value, scale, bias));
#endif
  }
}

template <class Element, uint32_t kCount>
struct alignas(sizeof(Element) * kCount) FinishedGroup {
  Element of[kCount];
};

// Writes group number `group` of the result at `out`. `kGroup` must equal grid.group.
template <ElementType kType, uint32_t kGroup>
RECPACK_HOST_DEVICE inline void FinishGroup(const FinishGrid& grid, const uint8_t* image,
                                            const FinishGeometry& g, uint32_t group, void* out) {
  using Element = typename ElementStorage<kType>::Type;
  const FinishOptions& o = grid.options;
  const bool in_planar = o.in_layout == ImageLayout::kNchw;
  const bool out_planar = o.out_layout == ImageLayout::kNchw;
  const auto channels = static_cast<uint32_t>(o.channels);

  const uint32_t row = grid.by_row(group);
  const uint32_t first = (group - row * grid.groups_per_row) * kGroup;
  uint32_t channel = 0, y = row, x = first;
  if (out_planar) {
    channel = grid.by_height(row);
    y = row - channel * static_cast<uint32_t>(o.out_height);
  } else {
    x = grid.by_channels(first);
    channel = first - x * channels;
  }

  // Sums are modulo 2^32: a negative coordinate becomes larger than the source.
  const auto width = static_cast<uint32_t>(o.in_width);
  const uint32_t source_y = static_cast<uint32_t>(g.y) + y;
  const bool row_inside = source_y < static_cast<uint32_t>(o.in_height);
  const size_t row_start = size_t{source_y} * width * (in_planar ? 1 : channels);
  const size_t plane = in_planar ? static_cast<size_t>(o.in_height) * width : 1;

  FinishedGroup<Element, kGroup> result;
  for (uint32_t i = 0; i < kGroup; ++i) {
    const uint32_t flipped = g.flip ? static_cast<uint32_t>(o.out_width) - 1 - x : x;
    const uint32_t source_x = static_cast<uint32_t>(g.x) + flipped;
    uint8_t value = o.fill;
    if (row_inside && source_x < width) {
      value = image[row_start + size_t{source_x} * (in_planar ? 1 : channels) + channel * plane];
    }
    result.of[i] = MakeElement<kType>(value, o.scale[channel], o.bias[channel]);
    if (out_planar) {
      ++x;
    } else if (++channel == channels) {
      channel = 0;
      ++x;
    }
  }
  static_cast<FinishedGroup<Element, kGroup>*>(out)[group] = result;
}

}  // namespace recpack
