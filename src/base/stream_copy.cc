#include "recpack/base/stream_copy.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace recpack {

void StreamCopy(uint8_t* to, const uint8_t* from, size_t bytes) noexcept {
#if defined(__SSE2__)
  constexpr size_t kStep = sizeof(__m128i);
  if (reinterpret_cast<uintptr_t>(to) % kStep == 0) {
    size_t at = 0;
    for (; at + kStep <= bytes; at += kStep) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
    }
    _mm_sfence();  // such stores are not ordered by what publishes the batch
    std::memcpy(to + at, from + at, bytes - at);
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace recpack
