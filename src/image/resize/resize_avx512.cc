// AVX-512 resize kernels. VPDPBUSD processes four taps at once; a 22-bit weight is split into three
// signed bytes, first + second * 2^8 + third * 2^16. Sums of each may wrap: their total, modulo
// 2^32, is exact.
#include "src/image/resize/resize_kernels.h"
#include "src/image/resize/resize_shuffles.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
// GCC 12 warns about its own intrinsics (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <algorithm>

#define RECPACK_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace recpack {
namespace {

constexpr int kDigits = 3;

// Returns digit `place` of four weights, one byte each.
int32_t Quad(const int32_t* weights, int place) {
  uint32_t quad = 0;
  for (int k = 0; k < 4; ++k) {
    // Digits are signed: carry into the next digit.
    const int32_t carried = weights[k] + (place > 0 ? 0x80 : 0) + (place > 1 ? 0x8000 : 0);
    quad |= static_cast<uint32_t>((carried >> (8 * place)) & 255) << (8 * k);
  }
  return static_cast<int32_t>(quad);
}

// Makes one register per digit for four taps of four pixels; a pixel fills a quarter, repeated for
// each channel.
void PackColumns(ResizeWeights& weights) {
  const int steps = RoundUp(weights.taps, 4) / 4;
  weights.packed.Reserve(static_cast<size_t>(weights.padded()) * static_cast<size_t>(steps) *
                         kDigits * 4);
  int32_t* to = weights.packed.data();
  for (int x = 0; x < weights.padded(); x += 4) {
    for (int step = 0; step < steps; ++step) {
      for (int place = 0; place < kDigits; ++place) {
        for (int i = 0; i < 4; ++i, to += 4) {
          std::fill_n(to, 4, Quad(weights.of(x + i) + 4 * step, place));
        }
      }
    }
  }
}

void PackRows(ResizeWeights& weights) {
  const int steps = weights.stride / 4;
  weights.packed.Reserve(static_cast<size_t>(weights.padded()) * static_cast<size_t>(steps) *
                         kDigits);
  int32_t* to = weights.packed.data();
  for (int i = 0; i < weights.padded(); ++i) {
    for (int step = 0; step < steps; ++step) {
      for (int place = 0; place < kDigits; ++place) *to++ = Quad(weights.of(i) + 4 * step, place);
    }
  }
}

// Shuffles four taps of a pixel to one word per channel.
constexpr auto kTapsOfChannels = MakeShuffles(
    [](int i, int channels) { return i / 4 < channels ? i % 4 * channels + i / 4 : -1; });

RECPACK_TARGET inline __m128i Load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

struct Sums {
  __m512i digit[kDigits];
};

RECPACK_TARGET inline __m512i Total(const Sums& sums) {
  const __m512i low = _mm512_add_epi32(sums.digit[0], _mm512_set1_epi32(kHalfWeight));
  const __m512i high = _mm512_add_epi32(_mm512_slli_epi32(sums.digit[2], 8), sums.digit[1]);
  return _mm512_srai_epi32(_mm512_add_epi32(_mm512_slli_epi32(high, 8), low), kWeightBits);
}

RECPACK_TARGET void Avx512Columns(const uint8_t* from, const ResizeWeights& weights, int channels,
                                  uint8_t* to) {
  const size_t kind = static_cast<size_t>(channels - 1);
  const __m512i expand = _mm512_broadcast_i32x4(Load(kTapsOfChannels[kind].data()));
  const __m128i narrow = Load(kNarrowPixels[kind].data());
  const int32_t* first = weights.first.data();
  const int32_t* packed = weights.packed.data();
  for (int x = 0; x < weights.padded(); x += 4, first += 4, to += 4 * channels) {
    Sums sums = {};
    for (int k = 0; k < weights.taps; k += 4, packed += 16 * kDigits) {
      const auto at = [&](int i) { return from + static_cast<ptrdiff_t>(first[i] + k) * channels; };
      __m512i pixels = _mm512_castsi128_si512(Load(at(0)));
      pixels = _mm512_inserti32x4(pixels, Load(at(1)), 1);
      pixels = _mm512_inserti32x4(pixels, Load(at(2)), 2);
      pixels = _mm512_inserti32x4(pixels, Load(at(3)), 3);
      pixels = _mm512_shuffle_epi8(pixels, expand);
      for (int d = 0; d < kDigits; ++d) {
        sums.digit[d] =
            _mm512_dpbusd_epi32(sums.digit[d], pixels, _mm512_loadu_si512(packed + 16 * d));
      }
    }
    const __m128i bytes = _mm512_cvtusepi32_epi8(Total(sums));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(bytes, narrow));
  }
}

// Computes the bytes of a row from `at` on that are set in `mask`.
RECPACK_TARGET inline __m512i RowBytes(const uint8_t* const* from, int count, const int32_t* packed,
                                       size_t at, __mmask64 mask) {
  Sums sums[4] = {};
  for (int k = 0; k < count; k += 4, packed += kDigits) {
    __m512i rows[4];
    for (int i = 0; i < 4; ++i) {
      rows[i] =
          _mm512_maskz_loadu_epi8(k + i < count ? mask : 0, from[std::min(k + i, count - 1)] + at);
    }
    const __m512i left_ab = _mm512_unpacklo_epi8(rows[0], rows[1]);
    const __m512i right_ab = _mm512_unpackhi_epi8(rows[0], rows[1]);
    const __m512i left_cd = _mm512_unpacklo_epi8(rows[2], rows[3]);
    const __m512i right_cd = _mm512_unpackhi_epi8(rows[2], rows[3]);
    const __m512i taps[4] = {
        _mm512_unpacklo_epi16(left_ab, left_cd), _mm512_unpackhi_epi16(left_ab, left_cd),
        _mm512_unpacklo_epi16(right_ab, right_cd), _mm512_unpackhi_epi16(right_ab, right_cd)};
    for (int d = 0; d < kDigits; ++d) {
      const __m512i factor = _mm512_set1_epi32(packed[d]);
      for (int i = 0; i < 4; ++i) {
        sums[i].digit[d] = _mm512_dpbusd_epi32(sums[i].digit[d], taps[i], factor);
      }
    }
  }
  return _mm512_packus_epi16(_mm512_packs_epi32(Total(sums[0]), Total(sums[1])),
                             _mm512_packs_epi32(Total(sums[2]), Total(sums[3])));
}

RECPACK_TARGET void Avx512Rows(const uint8_t* const* from, const ResizeWeights& weights, int y,
                               size_t bytes, uint8_t* to) {
  constexpr size_t kStep = 64;
  const int32_t* packed =
      weights.packed.data() + static_cast<ptrdiff_t>(y) * (weights.stride / 4) * kDigits;
  const int count = weights.count[y];
  for (size_t at = 0; at < bytes; at += kStep) {
    const size_t size = std::min(kStep, bytes - at);
    const __mmask64 mask = ~__mmask64{0} >> (kStep - size);
    _mm512_mask_storeu_epi8(to + at, mask, RowBytes(from, count, packed, at, mask));
  }
}

}  // namespace

const ResizeKernels kAvx512Resize = {.name = "avx512",
                                     .pack_columns = PackColumns,
                                     .pack_rows = PackRows,
                                     .columns = Avx512Columns,
                                     .rows = Avx512Rows};

}  // namespace recpack
#endif
