// Detection of the sanitizer that this is built with.
#pragma once

namespace recpack {

#if defined(__has_feature)
#define RECPACK_HAS_FEATURE(feature) __has_feature(feature)
#else
#define RECPACK_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || RECPACK_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || RECPACK_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

#undef RECPACK_HAS_FEATURE

}  // namespace recpack
