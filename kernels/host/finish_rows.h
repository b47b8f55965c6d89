// Row loops of finishing, sixteen pixels at a time, shared by all CPU levels.
//
// A path defines RECPACK_TARGET (the attribute that its functions need) and includes this file. Its
// class `Ops` has:
//
//   Bytes, Factors                         sixteen u8; scale and bias of sixteen elements
//   Load(from), LoadFactors(scale, bias)
//   Reorder<Form, kFlip>(bytes)            permutes the bytes of sixteen pixels by MakeOrder()
//   Store<kType>(bytes, factors, to)       normalises, casts and writes sixteen elements
//   kWide, CopyWide(from, to)              copies kWide bytes
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/host/finish_order.h"

#define RECPACK_TARGET_INLINE RECPACK_TARGET __attribute__((always_inline)) inline

namespace recpack {

// Copies kStep bytes.
template <class Ops, int kStep>
RECPACK_TARGET_INLINE void CopyStep(const uint8_t* from, uint8_t* to) {
  if constexpr (kStep == Ops::kWide) {
    Ops::CopyWide(from, to);
  } else {
    std::memcpy(to, from, kStep);
  }
}

// Copies `bytes` bytes, at least kStep.
template <class Ops, int kStep>
RECPACK_TARGET_INLINE void CopyBySteps(const uint8_t* from, size_t bytes, uint8_t* to) {
  const size_t last = bytes - kStep;
  for (size_t done = 0;; done += kStep) {
    const size_t at = std::min(done, last);
    CopyStep<Ops, kStep>(from + at, to + at);
    if (at == last) return;
  }
}

// Copies any number of bytes; faster than memcpy() for small sizes.
template <class Ops>
RECPACK_TARGET_INLINE void CopyBytes(const uint8_t* from, size_t bytes, uint8_t* to) {
  if (bytes < 16 || bytes > 256) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= Ops::kWide) {
    CopyBySteps<Ops, Ops::kWide>(from, bytes, to);
  } else {
    CopyBySteps<Ops, 16>(from, bytes, to);
  }
}

// Finishes sixteen pixels.
template <class Ops, class Form, bool kFlip>
RECPACK_TARGET_INLINE void FinishPixels(const typename Ops::Factors* factors, const uint8_t* from,
                                        size_t in_plane, uint8_t* to, size_t out_plane) {
  typename Ops::Bytes bytes[Form::channels];
  for (size_t c = 0; c < Form::channels; ++c) {
    bytes[c] = Ops::Load(from + c * (Form::in_planar ? in_plane : kFinishStep));
  }
  if constexpr (!KeepsOrder<Form, kFlip>()) Ops::template Reorder<Form, kFlip>(bytes);
  for (size_t c = 0; c < Form::channels; ++c) {
    uint8_t* const place =
        to + c * (Form::out_planar ? out_plane : kFinishStep * Form::element_bytes);
    Ops::template Store<Form::type>(bytes[c], factors[c], place);
  }
}

// Finishes `count` pixels from `from` into `to`.
template <class Ops, class Form, bool kFlip>
RECPACK_TARGET_INLINE void FinishRow(const typename Ops::Factors* factors, const uint8_t* from,
                                     size_t in_plane, size_t count, uint8_t* to, size_t out_plane) {
  constexpr size_t kInBytes = Form::in_planar ? 1 : Form::channels;
  constexpr size_t kOutBytes = (Form::out_planar ? 1 : Form::channels) * Form::element_bytes;
  if constexpr (Form::type == ElementType::kU8 && KeepsOrder<Form, kFlip>()) {
    return CopyBytes<Ops>(from, count * kInBytes, to);
  }
  // The last step overlaps pixels that are done.
  const size_t last = count - kFinishStep;
  for (size_t done = 0;; done += kFinishStep) {
    const size_t at = std::min(done, last);
    FinishPixels<Ops, Form, kFlip>(factors, from + (kFlip ? last - at : at) * kInBytes, in_plane,
                                   to + at * kOutBytes, out_plane);
    if (at == last) return;
  }
}

template <class Ops, class Form, bool kFlip>
RECPACK_TARGET void FinishRows(const FinishPlan& plan, const FinishJob& job, size_t plane) {
  typename Ops::Factors factors[Form::channels];
  for (size_t c = 0; c < Form::channels; ++c) {
    factors[c] = Ops::LoadFactors(plan.scale[plane + c], plan.bias[plane + c]);
  }
  const uint8_t* from = job.from + plane * job.in_plane;
  uint8_t* to = job.to + plane * plan.plane_bytes + job.left;
  for (size_t y = 0; y < job.rows; ++y, from += job.in_row, to += plan.row_bytes) {
    FinishRow<Ops, Form, kFlip>(factors, from, job.in_plane, job.count, to, plan.plane_bytes);
  }
}

// Pads at least the first (or last) `side` bytes of `rows` rows of `bytes` bytes, at least kStep.
// May overwrite bytes between the sides, which are written later.
template <class Ops, int kStep>
RECPACK_TARGET_INLINE void PadSide(const uint8_t* fill, size_t bytes, size_t side, bool is_last,
                                   size_t rows, uint8_t* to) {
  const size_t last = bytes - kStep;
  for (size_t done = 0; done < side; done += kStep) {
    const size_t inwards = std::min(done, last), at = is_last ? last - inwards : inwards;
    for (size_t y = 0; y < rows; ++y) CopyStep<Ops, kStep>(fill + at, to + y * bytes + at);
  }
}

template <class Ops>
RECPACK_TARGET void PadRows(const FinishPlan& plan, const FinishJob& job) {
  const size_t bytes = plan.row_bytes;
  for (size_t p = 0; p < plan.planes; ++p) {
    const uint8_t* const fill = plan.fill.data() + p * bytes;
    uint8_t* const to = job.to + p * plan.plane_bytes;
    if (bytes >= Ops::kWide) {
      PadSide<Ops, Ops::kWide>(fill, bytes, job.left, false, job.rows, to);
      PadSide<Ops, Ops::kWide>(fill, bytes, job.right, true, job.rows, to);
    } else {  // at least 16 bytes: the source covers sixteen elements
      PadSide<Ops, 16>(fill, bytes, job.left, false, job.rows, to);
      PadSide<Ops, 16>(fill, bytes, job.right, true, job.rows, to);
    }
  }
}

template <class Ops, class Form>
void FinishPlanes(const FinishPlan& plan, const FinishJob& job) {
  if (job.left + job.right > 0) PadRows<Ops>(plan, job);
  // Planar to planar: process each plane as an image of one channel.
  const size_t planes = Form::in_planar && Form::out_planar ? plan.planes : 1;
  for (size_t p = 0; p < planes; ++p) {
    if (job.flip) {
      FinishRows<Ops, Form, true>(plan, job, p);
    } else {
      FinishRows<Ops, Form, false>(plan, job, p);
    }
  }
}

// Pads the first `rows` rows of every plane.
template <class Ops>
RECPACK_TARGET void FillRows(const FinishPlan& plan, size_t rows, uint8_t* to) {
  const size_t bytes = plan.row_bytes;
  for (size_t p = 0; p < plan.planes; ++p) {
    for (size_t y = 0; y < rows; ++y) {
      CopyBytes<Ops>(plan.fill.data() + p * bytes, bytes, to + p * plan.plane_bytes + y * bytes);
    }
  }
}

template <class Ops, int kChannels, bool kInPlanar, bool kOutPlanar>
FinishRun FinishForType(ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return FinishPlanes<Ops, FinishForm<kChannels, kInPlanar, kOutPlanar, ElementType::kU8>>;
    case ElementType::kF16:
      return FinishPlanes<Ops, FinishForm<kChannels, kInPlanar, kOutPlanar, ElementType::kF16>>;
    case ElementType::kBf16:
      return FinishPlanes<Ops, FinishForm<kChannels, kInPlanar, kOutPlanar, ElementType::kBf16>>;
    default:
      return FinishPlanes<Ops, FinishForm<kChannels, kInPlanar, kOutPlanar, ElementType::kF32>>;
  }
}

template <class Ops, bool kInPlanar, bool kOutPlanar>
FinishRun FinishForChannels(const FinishOptions& options) {
  switch (options.channels) {
    case 2:
      return FinishForType<Ops, 2, kInPlanar, kOutPlanar>(options.type);
    case 3:
      return FinishForType<Ops, 3, kInPlanar, kOutPlanar>(options.type);
    default:
      return FinishForType<Ops, 4, kInPlanar, kOutPlanar>(options.type);
  }
}

template <class Ops>
FinishRun FindFinish(const FinishOptions& options) {
  const bool in_planar = options.in_layout == ImageLayout::kNchw;
  const bool out_planar = options.out_layout == ImageLayout::kNchw;
  if (options.channels == 1 || (in_planar && out_planar)) {
    return FinishForType<Ops, 1, true, true>(options.type);
  }
  if (in_planar) return FinishForChannels<Ops, true, false>(options);
  if (out_planar) return FinishForChannels<Ops, false, true>(options);
  return FinishForChannels<Ops, false, false>(options);
}

// The path of `Ops` for these options.
template <class Ops>
FinishPath ChoosePath(const FinishOptions& options) {
  return {FindFinish<Ops>(options), FillRows<Ops>};
}

}  // namespace recpack
