// Row loops of batch normalisation, shared by all CPU levels. Channels are processed in blocks
// whose values stay in registers for all rows. Included by norm_path.h.
#pragma once

#include <type_traits>

#include "kernels/host/lanes.h"
#include "kernels/host/norm_paths.h"

namespace recpack::RECPACK_PATH {

// Calls body(block, first) for blocks of channels from left to right: of four vectors, one vector,
// and single channels.
template <typename Body>
RECPACK_TARGET_INLINE void ForBlocks(size_t channels, const Body& body) {
  size_t c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) body.template Run<Floats, 4>(c);
  for (; c + 2 * kLanes <= channels; c += 2 * kLanes) body.template Run<Floats, 2>(c);
  for (; c + kLanes <= channels; c += kLanes) body.template Run<Floats, 1>(c);
  for (; c < channels; ++c) body.template Run<float, 1>(c);
}

// Returns the address of element `c`; null for a null array.
template <typename T, typename Array>
RECPACK_TARGET_INLINE T* At(Array* array, size_t c) {
  return array ? static_cast<T*>(array) + c : nullptr;
}

// kCount per-channel values, starting at `from`.
template <typename V, int kCount>
struct ByChannel {
  V of[kCount];
  RECPACK_TARGET_INLINE void Load(const float* from) {
    for (int j = 0; j < kCount; ++j) {
      of[j] = LaneAccess<V>::Load(from + static_cast<size_t>(j) * LaneAccess<V>::kCount);
    }
  }
  RECPACK_TARGET_INLINE void AddTo(float* to) const {
    for (int j = 0; j < kCount; ++j) {
      float* at = to + static_cast<size_t>(j) * LaneAccess<V>::kCount;
      LaneAccess<V>::Store(at, LaneAccess<V>::Load(at) + of[j]);
    }
  }
};

template <typename T>
struct SumsOfRows {
  const NormSumsArrays& a;
  size_t rows, channels;

  template <typename V, int kCount>
  RECPACK_TARGET_INLINE void Run(size_t c) const {
    using Access = LaneAccess<V>;
    const T* x = At<const T>(a.x, c);
    ByChannel<V, kCount> shift, sums{}, squares{};
    shift.Load(a.shift + c);
    for (size_t row = 0; row < rows; ++row, x += channels) {
      for (int j = 0; j < kCount; ++j) {
        const V value = Access::Load(x + static_cast<size_t>(j) * Access::kCount) - shift.of[j];
        sums.of[j] += value;
        squares.of[j] += value * value;
      }
    }
    sums.AddTo(a.sums + c);
    squares.AddTo(a.squares + c);
  }
};

template <typename T, bool kResidual, bool kRelu>
struct ApplyToRows {
  const NormApplyArrays& a;
  size_t rows, channels;

  template <typename V, int kCount>
  RECPACK_TARGET_INLINE void Run(size_t c) const {
    using Access = LaneAccess<V>;
    const T* x = At<const T>(a.x, c);
    const T* residual = At<const T>(a.residual, c);
    T* y = At<T>(a.y, c);
    ByChannel<V, kCount> factor, term;
    factor.Load(a.factor + c);
    term.Load(a.term + c);
    for (size_t row = 0; row < rows; ++row) {
      for (int j = 0; j < kCount; ++j) {
        const size_t at = row * channels + static_cast<size_t>(j) * Access::kCount;
        V value = Access::Load(x + at) * factor.of[j] + term.of[j];
        if constexpr (kResidual) value += Access::Load(residual + at);
        if constexpr (kRelu) value = Relu(value);
        Access::Store(y + at, value);
      }
    }
  }
};

template <typename T, NormMask kMask, bool kMore, bool kWrite>
struct GradientSumsOfRows {
  const NormGradientSumsArrays& a;
  size_t rows, channels;

  template <typename V, int kCount>
  RECPACK_TARGET_INLINE void Run(size_t c) const {
    using Access = LaneAccess<V>;
    const T* dy = At<const T>(a.dy, c);
    const T* more = At<const T>(a.dy_more, c);
    const T* x = At<const T>(a.x, c);
    const T* y = At<const T>(a.y, c);
    T* g_out = At<T>(a.g, c);
    ByChannel<V, kCount> factor{}, term{}, mean, sums{}, products{};
    mean.Load(a.mean + c);
    if constexpr (kMask == NormMask::kFromX) {
      factor.Load(a.factor + c);
      term.Load(a.term + c);
    }
    for (size_t row = 0; row < rows; ++row) {
      for (int j = 0; j < kCount; ++j) {
        const size_t at = row * channels + static_cast<size_t>(j) * Access::kCount;
        V g = Access::Load(dy + at);
        if constexpr (kMore) g += Access::Load(more + at);
        const V value = Access::Load(x + at);
        if constexpr (kMask == NormMask::kFromX) {
          g = WhereAbove0(value * factor.of[j] + term.of[j], g);
        } else if constexpr (kMask == NormMask::kFromY) {
          g = WhereAbove0(Access::Load(y + at), g);
        }
        if constexpr (kWrite) Access::Store(g_out + at, g);
        sums.of[j] += g;
        products.of[j] += g * (value - mean.of[j]);
      }
    }
    sums.AddTo(a.sums + c);
    products.AddTo(a.products + c);
  }
};

template <typename T, bool kMasked>
struct GradientOfRows {
  const NormGradientApplyArrays& a;
  size_t rows, channels;

  template <typename V, int kCount>
  RECPACK_TARGET_INLINE void Run(size_t c) const {
    using Access = LaneAccess<V>;
    const T* dy = At<const T>(a.dy, c);
    const T* x = At<const T>(a.x, c);
    T* dx = At<T>(a.dx, c);
    ByChannel<V, kCount> factor{}, term{}, of_g, of_x, constant;
    if constexpr (kMasked) {
      factor.Load(a.factor + c);
      term.Load(a.term + c);
    }
    of_g.Load(a.of_g + c);
    of_x.Load(a.of_x + c);
    constant.Load(a.constant + c);
    for (size_t row = 0; row < rows; ++row) {
      for (int j = 0; j < kCount; ++j) {
        const size_t at = row * channels + static_cast<size_t>(j) * Access::kCount;
        V g = Access::Load(dy + at);
        const V value = Access::Load(x + at);
        if constexpr (kMasked) g = WhereAbove0(value * factor.of[j] + term.of[j], g);
        Access::Store(dx + at, of_g.of[j] * g + of_x.of[j] * value + constant.of[j]);
      }
    }
  }
};

// Rows processed at a time, so that all blocks of channels find them in the L1 cache.
RECPACK_TARGET_INLINE size_t RowsAtATime(size_t channels) {
  return channels <= 4 * kLanes ? SIZE_MAX : 4096 / channels + 1;
}

// Runs Pass, in chunks of rows if there is more than one block of channels.
template <typename Pass, typename Arrays, typename Advance>
RECPACK_TARGET_INLINE void InParts(Arrays arrays, size_t rows, size_t channels,
                                   const Advance& advance) {
  const size_t part = RowsAtATime(channels);
  for (size_t done = 0; done < rows;) {
    const size_t now = rows - done < part ? rows - done : part;
    ForBlocks(channels, Pass{arrays, now, channels});
    done += now;
    advance(arrays, now * channels);
  }
}

template <typename T, typename Pointer>
void Step(Pointer*& pointer, size_t elements) {
  using Typed = std::conditional_t<std::is_const_v<Pointer>, const T, T>;
  if (pointer) pointer = static_cast<Typed*>(pointer) + elements;
}

template <typename T>
RECPACK_TARGET void SumRows(const NormSumsArrays& arrays, size_t rows, size_t channels) {
  InParts<SumsOfRows<T>>(arrays, rows, channels,
                         [](NormSumsArrays& a, size_t elements) { Step<T>(a.x, elements); });
}

template <typename T, bool kResidual, bool kRelu>
RECPACK_TARGET void ApplyRows(const NormApplyArrays& arrays, size_t rows, size_t channels) {
  InParts<ApplyToRows<T, kResidual, kRelu>>(arrays, rows, channels,
                                            [](NormApplyArrays& a, size_t elements) {
                                              Step<T>(a.x, elements);
                                              Step<T>(a.residual, elements);
                                              Step<T>(a.y, elements);
                                            });
}

template <typename T, NormMask kMask, bool kMore, bool kWrite>
RECPACK_TARGET void GradientSumRows(const NormGradientSumsArrays& arrays, size_t rows,
                                    size_t channels) {
  InParts<GradientSumsOfRows<T, kMask, kMore, kWrite>>(
      arrays, rows, channels, [](NormGradientSumsArrays& a, size_t elements) {
        Step<T>(a.dy, elements);
        Step<T>(a.dy_more, elements);
        Step<T>(a.x, elements);
        Step<T>(a.y, elements);
        Step<T>(a.g, elements);
      });
}

template <typename T, bool kMasked>
RECPACK_TARGET void GradientRows(const NormGradientApplyArrays& arrays, size_t rows,
                                 size_t channels) {
  InParts<GradientOfRows<T, kMasked>>(arrays, rows, channels,
                                      [](NormGradientApplyArrays& a, size_t elements) {
                                        Step<T>(a.dy, elements);
                                        Step<T>(a.x, elements);
                                        Step<T>(a.dx, elements);
                                      });
}

}  // namespace recpack::RECPACK_PATH
