#if defined(__x86_64__)
#include <immintrin.h>

#define RECPACK_TARGET __attribute__((target("avx2,f16c")))
#include "kernels/host/finish_rows.h"

namespace recpack {
namespace {

struct Avx2Ops {
  using Bytes = __m128i;
  struct Factors {
    __m256 scale[2], bias[2];
  };

  RECPACK_TARGET_INLINE static Bytes Load(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  RECPACK_TARGET_INLINE static Factors LoadFactors(const float* scale, const float* bias) {
    return {{_mm256_loadu_ps(scale), _mm256_loadu_ps(scale + 8)},
            {_mm256_loadu_ps(bias), _mm256_loadu_ps(bias + 8)}};
  }

  template <class Form, bool kFlip>
  RECPACK_TARGET_INLINE static void Reorder(Bytes* bytes) {
    static constexpr auto kShuffles = MakeShuffles<Form::channels>(MakeOrder<Form, kFlip>());
    Bytes result[Form::channels];
    for (int j = 0; j < Form::channels; ++j) {
      result[j] = _mm_shuffle_epi8(bytes[0], Load(kShuffles.of[j][0]));
      for (int k = 1; k < Form::channels; ++k) {
        result[j] = _mm_or_si128(result[j], _mm_shuffle_epi8(bytes[k], Load(kShuffles.of[j][k])));
      }
    }
    for (int j = 0; j < Form::channels; ++j) bytes[j] = result[j];
  }

  RECPACK_TARGET_INLINE static __m256 Normalised(Bytes bytes, __m256 scale, __m256 bias) {
    const __m256 value = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    return _mm256_add_ps(_mm256_mul_ps(value, scale), bias);
  }

  // Result in the lower halves of 32 bits; see ToBf16().
  RECPACK_TARGET_INLINE static __m256i Bf16(__m256 value) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    return _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
  }

  RECPACK_TARGET_INLINE static void Put(uint8_t* to, __m128i value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
  }

  template <ElementType kType>
  RECPACK_TARGET_INLINE static void Store(Bytes bytes, const Factors& factors, uint8_t* to) {
    if constexpr (kType == ElementType::kU8) return Put(to, bytes);
    const __m256 low = Normalised(bytes, factors.scale[0], factors.bias[0]);
    const __m256 high = Normalised(_mm_srli_si128(bytes, 8), factors.scale[1], factors.bias[1]);
    if constexpr (kType == ElementType::kF32) {
      _mm256_storeu_ps(reinterpret_cast<float*>(to), low);
      _mm256_storeu_ps(reinterpret_cast<float*>(to) + 8, high);
    } else if constexpr (kType == ElementType::kF16) {
      constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
      Put(to, _mm256_cvtps_ph(low, kNearest));
      Put(to + 16, _mm256_cvtps_ph(high, kNearest));
    } else {
      const __m256i halves = _mm256_packus_epi32(Bf16(low), Bf16(high));  // interleaved
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                          _mm256_permute4x64_epi64(halves, 0b11'01'10'00));
    }
  }

  static constexpr size_t kWide = 32;
  RECPACK_TARGET_INLINE static void CopyWide(const uint8_t* from, uint8_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
};

}  // namespace

FinishPath Avx2Finish(const FinishOptions& options) { return ChoosePath<Avx2Ops>(options); }

}  // namespace recpack
#endif
