#include "src/image/jpeg/jpeg_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define RECPACK_TARGET __attribute__((target("avx2")))

namespace recpack {
namespace {

RECPACK_TARGET inline __m128i Load16(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
RECPACK_TARGET inline __m256i Load32(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
RECPACK_TARGET inline void Store16(void* to, __m128i bytes) {
  _mm_storeu_si128(static_cast<__m128i*>(to), bytes);
}

// Broadcasts two factors for VPMADDWD.
RECPACK_TARGET inline __m256i Factors(int16_t even, int16_t odd) {
  return _mm256_set1_epi32(static_cast<uint16_t>(even) | odd * (1 << 16));
}

RECPACK_TARGET inline __m256i Sum(__m256i pairs, __m256i factors) {
  return _mm256_madd_epi16(pairs, factors);
}

// Computes eight inverse DCTs in parallel: from pairs (0,4), (2,6), (1,3), (5,7) of 16-bit values
// to eight sums, shifted right by kShift and rounded.
template <int kShift>
RECPACK_TARGET inline void InverseDct8(const __m256i* pairs, __m256i* out) {
  const __m256i half = _mm256_set1_epi32(1 << (kShift - 1));
  constexpr int16_t kOne = 1 << kDctBits;
  const __m256i even0 = _mm256_add_epi32(Sum(pairs[0], Factors(kOne, kOne)), half);
  const __m256i even1 = _mm256_add_epi32(Sum(pairs[0], Factors(kOne, -kOne)), half);
  const __m256i even3 = Sum(pairs[1], Factors(kDctEven[0][0], kDctEven[0][1]));
  const __m256i even2 = Sum(pairs[1], Factors(kDctEven[1][0], kDctEven[1][1]));
  const __m256i even[4] = {_mm256_add_epi32(even0, even3), _mm256_add_epi32(even1, even2),
                           _mm256_sub_epi32(even1, even2), _mm256_sub_epi32(even0, even3)};
  for (int i = 0; i < 4; ++i) {
    const int16_t* c = kDctOdd[i];
    const __m256i odd =
        _mm256_add_epi32(Sum(pairs[2], Factors(c[0], c[1])), Sum(pairs[3], Factors(c[2], c[3])));
    out[i] = _mm256_srai_epi32(_mm256_add_epi32(even[i], odd), kShift);
    out[7 - i] = _mm256_srai_epi32(_mm256_sub_epi32(even[i], odd), kShift);
  }
}

// Transposes eight rows of eight 32-bit columns to the pairs of columns of the second pass.
RECPACK_TARGET inline void Transpose(const __m256i* rows, __m256i* pairs) {
  __m256i halves[4];  // rows i and i + 4, two columns in 32 bits
  for (int i = 0; i < 4; ++i) {
    halves[i] = _mm256_permute4x64_epi64(_mm256_packs_epi32(rows[i], rows[i + 4]), 0xD8);
  }
  const __m256i a = _mm256_unpacklo_epi32(halves[0], halves[1]);
  const __m256i b = _mm256_unpacklo_epi32(halves[2], halves[3]);
  const __m256i c = _mm256_unpackhi_epi32(halves[0], halves[1]);
  const __m256i d = _mm256_unpackhi_epi32(halves[2], halves[3]);
  pairs[0] = _mm256_unpacklo_epi64(a, b);
  pairs[1] = _mm256_unpackhi_epi64(a, b);
  pairs[2] = _mm256_unpacklo_epi64(c, d);
  pairs[3] = _mm256_unpackhi_epi64(c, d);
}

RECPACK_TARGET inline void StoreTwo(__m128i rows, uint8_t* to, size_t stride) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), rows);
  _mm_storeh_pd(reinterpret_cast<double*>(to + stride), _mm_castsi128_pd(rows));
}

// Stores eight columns of eight 32-bit rows as rows of bytes.
RECPACK_TARGET inline void StoreColumns(const __m256i* columns, uint8_t* to, size_t stride) {
  const __m256i by_row = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m256i halves[2];  // four columns each
  for (int i = 0; i < 2; ++i) {
    const __m256i* c = columns + 4 * i;
    const __m256i bytes =
        _mm256_packs_epi16(_mm256_packs_epi32(c[0], c[1]), _mm256_packs_epi32(c[2], c[3]));
    halves[i] = _mm256_xor_si256(_mm256_shuffle_epi8(bytes, by_row), _mm256_set1_epi8(-128));
  }
  const __m256i rows01 = _mm256_unpacklo_epi32(halves[0], halves[1]);  // and 4, 5
  const __m256i rows23 = _mm256_unpackhi_epi32(halves[0], halves[1]);  // and 6, 7
  StoreTwo(_mm256_castsi256_si128(rows01), to, stride);
  StoreTwo(_mm256_castsi256_si128(rows23), to + 2 * stride, stride);
  StoreTwo(_mm256_extracti128_si256(rows01, 1), to + 4 * stride, stride);
  StoreTwo(_mm256_extracti128_si256(rows23, 1), to + 6 * stride, stride);
}

RECPACK_TARGET inline int SumOf8(__m256i values) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1)));
}

RECPACK_TARGET bool InverseDct(int16_t* block, const int16_t* quantisers, uint8_t* to,
                               size_t stride) {
  __m256i pairs[4], sums[kBlockSide], total = _mm256_setzero_si256();
  for (int i = 0; i < 4; ++i) {
    const __m256i coefficients = Load32(block + 16 * i), factors = Load32(quantisers + 16 * i);
    total = _mm256_add_epi32(total, _mm256_madd_epi16(_mm256_abs_epi16(coefficients), factors));
    pairs[i] = _mm256_mullo_epi16(coefficients, factors);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(block + 16 * i), _mm256_setzero_si256());
  }
  if (SumOf8(total) > kMaxBlockSum) [[unlikely]]
    return false;
  InverseDct8<kDctBits - kDctPassBits>(pairs, sums);
  Transpose(sums, pairs);
  InverseDct8<kDctBits + kDctPassBits + 3>(pairs, sums);
  StoreColumns(sums, to, stride);
  return true;
}

// Loads 16 bytes as 16 values of 16 bits.
RECPACK_TARGET inline __m256i LoadWide(const uint8_t* from) {
  return _mm256_cvtepu8_epi16(Load16(from));
}

// Interleaves two times 16 values and stores them as bytes.
RECPACK_TARGET inline void StorePairs(__m256i even, __m256i odd, uint8_t* to) {
  const __m256i bytes = _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
}

RECPACK_TARGET inline __m256i Triple(__m256i v) {
  return _mm256_add_epi16(v, _mm256_add_epi16(v, v));
}

RECPACK_TARGET void Widen(const uint8_t* from, int count, uint8_t* to) {
  const __m256i one = _mm256_set1_epi16(1), two = _mm256_set1_epi16(2);
  for (int i = 0; i < count; i += 16) {
    const __m256i near = Triple(LoadWide(from + i));
    const __m256i left = _mm256_add_epi16(LoadWide(from + i - 1), one);
    const __m256i right = _mm256_add_epi16(LoadWide(from + i + 1), two);
    StorePairs(_mm256_srli_epi16(_mm256_add_epi16(near, left), 2),
               _mm256_srli_epi16(_mm256_add_epi16(near, right), 2), to + 2 * i);
  }
}

RECPACK_TARGET inline __m256i Between(const uint8_t* near, const uint8_t* far) {
  return _mm256_add_epi16(Triple(LoadWide(near)), LoadWide(far));
}

RECPACK_TARGET void WidenBetween(const uint8_t* near, const uint8_t* far, int count, uint8_t* to) {
  const __m256i seven = _mm256_set1_epi16(7), eight = _mm256_set1_epi16(8);
  for (int i = 0; i < count; i += 16) {
    const __m256i here = Triple(Between(near + i, far + i));
    const __m256i left = _mm256_add_epi16(Between(near + i - 1, far + i - 1), eight);
    const __m256i right = _mm256_add_epi16(Between(near + i + 1, far + i + 1), seven);
    StorePairs(_mm256_srli_epi16(_mm256_add_epi16(here, left), 4),
               _mm256_srli_epi16(_mm256_add_epi16(here, right), 4), to + 2 * i);
  }
}

// value * (factor / 65536), rounded, for small values.
RECPACK_TARGET inline __m256i Scale(__m256i value, int16_t factor) {
  const __m256i product =
      _mm256_mulhi_epi16(_mm256_add_epi16(value, value), _mm256_set1_epi16(factor));
  return _mm256_srai_epi16(_mm256_add_epi16(product, _mm256_set1_epi16(1)), 1);
}

// Sums of pairs times factors / 65536, rounded.
RECPACK_TARGET inline __m256i ScaledSum(__m256i pairs, __m256i factors) {
  const __m256i half = _mm256_set1_epi32(1 << 15);
  return _mm256_srai_epi32(_mm256_add_epi32(Sum(pairs, factors), half), 16);
}

// Packs 16 values to bytes.
RECPACK_TARGET inline __m128i Narrow(__m256i values) {
  return _mm_packus_epi16(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
}

// Source of each byte of 48 interleaved bytes in R (0), G (1) or B (2).
template <int kPart, int kColour>
RECPACK_TARGET inline __m128i Spread(__m128i bytes) {
  alignas(16) static constexpr auto kFrom = [] {
    struct Bytes {
      uint8_t at[16];
    } from{};
    for (int i = 0; i < 16; ++i) {
      const int place = 16 * kPart + i;
      from.at[i] = place % 3 == kColour ? static_cast<uint8_t>(place / 3) : 0x80;
    }
    return from;
  }();
  return _mm_shuffle_epi8(bytes, Load16(kFrom.at));
}

template <int kPart>
RECPACK_TARGET inline void StorePart(__m128i r, __m128i g, __m128i b, uint8_t* to) {
  Store16(to + 16 * kPart, _mm_or_si128(_mm_or_si128(Spread<kPart, 0>(r), Spread<kPart, 1>(g)),
                                        Spread<kPart, 2>(b)));
}

RECPACK_TARGET inline void ToRgb16(const uint8_t* y, const uint8_t* cb, const uint8_t* cr,
                                   uint8_t* rgb) {
  // Fractions that fit 16 bits: 1.402, 1.772 and 0.71414 minus the integers 1, 2 and 1.
  constexpr int kRed = 91881 - 65536, kBlue = 116130 - 2 * 65536, kGreen = 65536 - 46802;
  const __m256i centre = _mm256_set1_epi16(128);
  const __m256i light = LoadWide(y);
  const __m256i blue = _mm256_sub_epi16(LoadWide(cb), centre);
  const __m256i red = _mm256_sub_epi16(LoadWide(cr), centre);
  const __m256i factors = Factors(-22554, kGreen);
  const __m256i greens = _mm256_packs_epi32(ScaledSum(_mm256_unpacklo_epi16(blue, red), factors),
                                            ScaledSum(_mm256_unpackhi_epi16(blue, red), factors));
  const __m128i r = Narrow(_mm256_add_epi16(light, _mm256_add_epi16(red, Scale(red, kRed))));
  const __m128i g = Narrow(_mm256_add_epi16(light, _mm256_sub_epi16(greens, red)));
  const __m128i b = Narrow(
      _mm256_add_epi16(light, _mm256_add_epi16(_mm256_add_epi16(blue, blue), Scale(blue, kBlue))));
  StorePart<0>(r, g, b, rgb);
  StorePart<1>(r, g, b, rgb);
  StorePart<2>(r, g, b, rgb);
}

RECPACK_TARGET void ToRgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int pixels,
                          uint8_t* rgb) {
  if (pixels < 16) {
    kScalarJpeg.to_rgb(y, cb, cr, pixels, rgb);
    return;
  }
  for (int x = 0; x < pixels; x += 16) {
    // The last 16 may overlap the previous ones.
    const int at = x + 16 <= pixels ? x : pixels - 16;
    ToRgb16(y + at, cb + at, cr + at, rgb + 3 * at);
  }
}

}  // namespace

const JpegKernels kAvx2Jpeg = {.name = "avx2",
                               .inverse_dct = InverseDct,
                               .widen = Widen,
                               .widen_between = WidenBetween,
                               .to_rgb = ToRgb};

}  // namespace recpack
#endif
