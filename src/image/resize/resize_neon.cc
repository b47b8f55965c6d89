#include "src/image/resize/resize_kernels.h"
#include "src/image/resize/resize_shuffles.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>

namespace recpack {
namespace {

// Shuffles tap kTap of a pixel to one word per channel.
template <int kTap>
constexpr auto kWordsOfChannels = MakeShuffles([](int i, int channels) {
  return i % 4 == 0 && i / 4 < channels ? kTap * channels + i / 4 : -1;
});

inline uint8x16_t Narrow(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d) {
  const auto shift = [](int32x4_t sum) { return vqmovun_s32(vshrq_n_s32(sum, kWeightBits)); };
  return vcombine_u8(vqmovn_u16(vcombine_u16(shift(a), shift(b))),
                     vqmovn_u16(vcombine_u16(shift(c), shift(d))));
}

void NeonColumns(const uint8_t* from, const ResizeWeights& weights, int channels, uint8_t* to) {
  const size_t kind = static_cast<size_t>(channels - 1);
  const uint8x16_t taps[4] = {
      vld1q_u8(kWordsOfChannels<0>[kind].data()), vld1q_u8(kWordsOfChannels<1>[kind].data()),
      vld1q_u8(kWordsOfChannels<2>[kind].data()), vld1q_u8(kWordsOfChannels<3>[kind].data())};
  const uint8x16_t narrow = vld1q_u8(kNarrowPixels[kind].data());
  for (int x = 0; x < weights.padded(); x += 4, to += 4 * channels) {
    int32x4_t sums[4];
    for (int i = 0; i < 4; ++i) {
      const uint8_t* at = from + static_cast<ptrdiff_t>(weights.first[x + i]) * channels;
      const int32_t* weight = weights.of(x + i);
      sums[i] = vdupq_n_s32(kHalfWeight);
      for (int k = 0; k < weights.count[x + i]; k += 4, at += 4 * channels, weight += 4) {
        const uint8x16_t bytes = vld1q_u8(at);
        for (int t = 0; t < 4; ++t) {
          const int32x4_t pixel = vreinterpretq_s32_u8(vqtbl1q_u8(bytes, taps[t]));
          sums[i] = vmlaq_n_s32(sums[i], pixel, weight[t]);
        }
      }
    }
    vst1q_u8(to, vqtbl1q_u8(Narrow(sums[0], sums[1], sums[2], sums[3]), narrow));
  }
}

// Computes 16 bytes of a row, from `at` on.
inline uint8x16_t RowBytes(const uint8_t* const* from, const int32_t* weight, int count,
                           size_t at) {
  int32x4_t sums[4];
  for (int32x4_t& sum : sums) sum = vdupq_n_s32(kHalfWeight);
  for (int k = 0; k < count; ++k) {
    const uint8x16_t bytes = vld1q_u8(from[k] + at);
    const uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
    const uint32x4_t words[4] = {vmovl_u16(vget_low_u16(low)), vmovl_high_u16(low),
                                 vmovl_u16(vget_low_u16(high)), vmovl_high_u16(high)};
    for (int i = 0; i < 4; ++i) {
      sums[i] = vmlaq_n_s32(sums[i], vreinterpretq_s32_u32(words[i]), weight[k]);
    }
  }
  return Narrow(sums[0], sums[1], sums[2], sums[3]);
}

void NeonRows(const uint8_t* const* from, const ResizeWeights& weights, int y, size_t bytes,
              uint8_t* to) {
  constexpr size_t kStep = 16;
  if (bytes < kStep) return kScalarResize.rows(from, weights, y, bytes, to);
  for (size_t at = 0; at < bytes; at += kStep) {
    // The last step overlaps bytes that are done.
    const size_t place = std::min(at, bytes - kStep);
    vst1q_u8(to + place, RowBytes(from, weights.of(y), weights.count[y], place));
  }
}

}  // namespace

const ResizeKernels kNeonResize = {.name = "neon",
                                   .pack_columns = nullptr,
                                   .pack_rows = nullptr,
                                   .columns = NeonColumns,
                                   .rows = NeonRows};

}  // namespace recpack
#endif
