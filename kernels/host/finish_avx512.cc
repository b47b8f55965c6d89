#if defined(__x86_64__)
#include <immintrin.h>

#define RECPACK_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#include "kernels/host/finish_rows.h"

namespace recpack {
namespace {

// GCC 12's masked intrinsics do not cause false warnings about uninitialised values.
constexpr __mmask16 kAll = 0xffff;

struct Avx512Ops {
  using Bytes = __m128i;
  struct Factors {
    __m512 scale, bias;
  };

  RECPACK_TARGET_INLINE static Bytes Load(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  RECPACK_TARGET_INLINE static Factors LoadFactors(const float* scale, const float* bias) {
    return {_mm512_loadu_ps(scale), _mm512_loadu_ps(bias)};
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

  RECPACK_TARGET_INLINE static __m512 Normalised(Bytes bytes, const Factors& factors) {
    const __m512 value = _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepu8_epi32(kAll, bytes));
    return _mm512_add_ps(_mm512_mul_ps(value, factors.scale), factors.bias);
  }

  // See ToBf16(). VCVTNEPS2BF16 flushes denormals to 0 and so differs.
  RECPACK_TARGET_INLINE static __m256i Bf16(__m512 value) {
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd =
        _mm512_and_si512(_mm512_maskz_srli_epi32(kAll, bits, 16), _mm512_set1_epi32(1));
    const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
    const __m512i rounded = _mm512_add_epi32(bits, half);
    return _mm512_maskz_cvtepi32_epi16(kAll, _mm512_maskz_srli_epi32(kAll, rounded, 16));
  }

  template <ElementType kType>
  RECPACK_TARGET_INLINE static void Store(Bytes bytes, const Factors& factors, uint8_t* to) {
    if constexpr (kType == ElementType::kU8) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
      return;
    }
    const __m512 value = Normalised(bytes, factors);
    if constexpr (kType == ElementType::kF32) {
      _mm512_storeu_ps(to, value);
    } else if constexpr (kType == ElementType::kF16) {
      constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                          _mm512_maskz_cvtps_ph(kAll, value, kNearest));
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), Bf16(value));
    }
  }

  static constexpr size_t kWide = 64;
  RECPACK_TARGET_INLINE static void CopyWide(const uint8_t* from, uint8_t* to) {
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  }
};

}  // namespace

FinishPath Avx512Finish(const FinishOptions& options) { return ChoosePath<Avx512Ops>(options); }

}  // namespace recpack
#endif
