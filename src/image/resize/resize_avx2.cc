// AVX2 resize kernels. Pixels are widened to pairs of 16 bits for VPMADDWD; a 22-bit weight is
// split into two factors, high * 2^14 + low. Sums of either may wrap: their total, modulo 2^32, is
// exact.
#include "src/image/resize/resize_kernels.h"
#include "src/image/resize/resize_shuffles.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#define RECPACK_TARGET __attribute__((target("avx2")))

namespace recpack {
namespace {

constexpr int kLowBits = 14;

// Pack the factors of two taps for VPMADDWD.
int32_t HighPair(const int32_t* w) { return w[0] >> kLowBits | (w[1] >> kLowBits) << 16; }
int32_t LowPair(const int32_t* w) {
  constexpr int32_t kMask = (1 << kLowBits) - 1;
  return (w[0] & kMask) | (w[1] & kMask) << 16;
}

// Two taps fill half a register, with one factor per channel. If no pixel has more than two taps,
// two pixels share a register; otherwise its halves are taps 0, 1 and 2, 3 of one pixel.
bool IsTwoTaps(const ResizeWeights& weights) { return weights.taps <= 2; }

void PackColumns(ResizeWeights& weights) {
  const int pairs = IsTwoTaps(weights) ? 1 : RoundUp(weights.taps, 4) / 2;
  weights.packed.Reserve(static_cast<size_t>(weights.padded()) * static_cast<size_t>(pairs) * 8);
  int32_t* to = weights.packed.data();
  for (int pair = 0; pair < weights.padded() * pairs; ++pair) {
    const int32_t* weight = weights.of(pair / pairs) + pair % pairs * 2;
    // Registers of high and low factors alternate; a pair of taps fills half of each.
    int32_t* half = to + pair / 2 * 16 + pair % 2 * 4;
    std::fill_n(half, 4, HighPair(weight));
    std::fill_n(half + 8, 4, LowPair(weight));
  }
}

void PackRows(ResizeWeights& weights) {
  weights.packed.Reserve(static_cast<size_t>(weights.padded()) *
                         static_cast<size_t>(weights.stride));
  int32_t* to = weights.packed.data();
  for (int i = 0; i < weights.padded(); ++i) {
    for (int k = 0; k < weights.stride; k += 2, to += 2) {
      to[0] = HighPair(weights.of(i) + k);
      to[1] = LowPair(weights.of(i) + k);
    }
  }
}

// Shuffles two taps of a pixel, from tap kFirst on, to pairs of 16 bits, one pair per channel.
template <int kFirst>
constexpr auto kPairsOfChannels = MakeShuffles([](int i, int channels) {
  return i % 2 == 0 && i / 4 < channels ? (kFirst + i % 4 / 2) * channels + i / 4 : -1;
});

RECPACK_TARGET inline __m128i Load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
RECPACK_TARGET inline __m256i Load2(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
RECPACK_TARGET inline __m256i Join(__m128i low, __m128i high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

RECPACK_TARGET inline __m256i Total(__m256i high, __m256i low) {
  return _mm256_add_epi32(_mm256_slli_epi32(high, kLowBits), low);
}
RECPACK_TARGET inline __m256i Shift(__m256i sum) {
  return _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(kHalfWeight)), kWeightBits);
}

// Packs pixels a, b, c, d of four sums each, given as [a b] and [c d], to 16 bytes.
RECPACK_TARGET inline __m128i NarrowPixels(__m256i ab, __m256i cd) {
  const __m256i words = _mm256_packs_epi32(Shift(ab), Shift(cd));  // a c b d
  const __m256i bytes = _mm256_packus_epi16(words, words);
  return _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
}

RECPACK_TARGET inline __m256i SumOfHalves(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                          _mm256_permute2x128_si256(a, b, 0x31));
}

// Computes two pixels of two taps.
RECPACK_TARGET inline __m256i TwoPixels(const uint8_t* a, const uint8_t* b, __m256i expand,
                                        const int32_t* packed) {
  const __m256i pixels = _mm256_shuffle_epi8(Join(Load(a), Load(b)), expand);
  return Total(_mm256_madd_epi16(pixels, Load2(packed)),
               _mm256_madd_epi16(pixels, Load2(packed + 8)));
}

// Computes one pixel of `steps` times four taps; the caller adds its halves.
RECPACK_TARGET inline __m256i OnePixel(const uint8_t* from, __m256i expand, int steps,
                                       int step_bytes, const int32_t* packed) {
  __m256i high = _mm256_setzero_si256(), low = _mm256_setzero_si256();
  for (int s = 0; s < steps; ++s, from += step_bytes, packed += 16) {
    const __m256i pixels = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(Load(from)), expand);
    high = _mm256_add_epi32(high, _mm256_madd_epi16(pixels, Load2(packed)));
    low = _mm256_add_epi32(low, _mm256_madd_epi16(pixels, Load2(packed + 8)));
  }
  return Total(high, low);
}

RECPACK_TARGET void ColumnsOfTwoTaps(const uint8_t* from, const ResizeWeights& weights,
                                     int channels, uint8_t* to) {
  const size_t kind = static_cast<size_t>(channels - 1);
  const __m256i expand = _mm256_broadcastsi128_si256(Load(kPairsOfChannels<0>[kind].data()));
  const __m128i narrow = Load(kNarrowPixels[kind].data());
  const int32_t* first = weights.first.data();
  const int32_t* packed = weights.packed.data();
  for (int x = 0; x < weights.padded(); x += 4, first += 4, packed += 32, to += 4 * channels) {
    const auto at = [&](int i) { return from + static_cast<ptrdiff_t>(first[i]) * channels; };
    const __m256i ab = TwoPixels(at(0), at(1), expand, packed);
    const __m256i cd = TwoPixels(at(2), at(3), expand, packed + 16);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_shuffle_epi8(NarrowPixels(ab, cd), narrow));
  }
}

template <bool kOneStep>
RECPACK_TARGET void ColumnsOfFourTaps(const uint8_t* from, const ResizeWeights& weights,
                                      int channels, uint8_t* to) {
  const size_t kind = static_cast<size_t>(channels - 1);
  const __m256i expand =
      Join(Load(kPairsOfChannels<0>[kind].data()), Load(kPairsOfChannels<2>[kind].data()));
  const __m128i narrow = Load(kNarrowPixels[kind].data());
  const int32_t* first = weights.first.data();
  const int32_t* packed = weights.packed.data();
  const int steps = kOneStep ? 1 : RoundUp(weights.taps, 4) / 4;
  for (int x = 0; x < weights.padded(); x += 4, first += 4, to += 4 * channels) {
    __m256i pixels[4];
    for (int i = 0; i < 4; ++i, packed += 16 * steps) {
      const uint8_t* at = from + static_cast<ptrdiff_t>(first[i]) * channels;
      pixels[i] = OnePixel(at, expand, steps, 4 * channels, packed);
    }
    const __m128i bytes =
        NarrowPixels(SumOfHalves(pixels[0], pixels[1]), SumOfHalves(pixels[2], pixels[3]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(bytes, narrow));
  }
}

void Avx2Columns(const uint8_t* from, const ResizeWeights& weights, int channels, uint8_t* to) {
  const auto columns = IsTwoTaps(weights)  ? ColumnsOfTwoTaps
                       : weights.taps <= 4 ? ColumnsOfFourTaps<true>
                                           : ColumnsOfFourTaps<false>;
  columns(from, weights, channels, to);
}

// Computes 32 bytes of a row, from `at` on.
RECPACK_TARGET inline __m256i RowBytes(const uint8_t* const* from, int count, const int32_t* packed,
                                       size_t at) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i high[4] = {zero, zero, zero, zero}, low[4] = {zero, zero, zero, zero};
  for (int k = 0; k < count; k += 2, packed += 2) {
    const __m256i a = Load2(from[k] + at);
    const __m256i b = k + 1 < count ? Load2(from[k + 1] + at) : zero;
    const __m256i left = _mm256_unpacklo_epi8(a, b), right = _mm256_unpackhi_epi8(a, b);
    const __m256i pairs[4] = {_mm256_unpacklo_epi8(left, zero), _mm256_unpackhi_epi8(left, zero),
                              _mm256_unpacklo_epi8(right, zero), _mm256_unpackhi_epi8(right, zero)};
    const __m256i factor_high = _mm256_set1_epi32(packed[0]);
    const __m256i factor_low = _mm256_set1_epi32(packed[1]);
    for (int i = 0; i < 4; ++i) {
      high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(pairs[i], factor_high));
      low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(pairs[i], factor_low));
    }
  }
  for (int i = 0; i < 4; ++i) high[i] = Shift(Total(high[i], low[i]));
  return _mm256_packus_epi16(_mm256_packs_epi32(high[0], high[1]),
                             _mm256_packs_epi32(high[2], high[3]));
}

RECPACK_TARGET void Avx2Rows(const uint8_t* const* from, const ResizeWeights& weights, int y,
                             size_t bytes, uint8_t* to) {
  constexpr size_t kStep = 32;
  if (bytes < kStep) return kScalarResize.rows(from, weights, y, bytes, to);
  const int32_t* packed = weights.packed.data() + static_cast<ptrdiff_t>(y) * weights.stride;
  const int count = weights.count[y];
  for (size_t at = 0; at < bytes; at += kStep) {
    // The last step overlaps bytes that are done.
    const size_t place = std::min(at, bytes - kStep);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + place),
                        RowBytes(from, count, packed, place));
  }
}

}  // namespace

const ResizeKernels kAvx2Resize = {.name = "avx2",
                                   .pack_columns = PackColumns,
                                   .pack_rows = PackRows,
                                   .columns = Avx2Columns,
                                   .rows = Avx2Rows};

}  // namespace recpack
#endif
