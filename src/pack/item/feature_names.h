// Names of the features that sources of images write (docs/reference/sources.md).
#pragma once

#include <string_view>

namespace recpack::pack {

inline constexpr std::string_view kImageEncoded = "image/encoded";
inline constexpr std::string_view kImageFormat = "image/format";
inline constexpr std::string_view kImageHeight = "image/height";
inline constexpr std::string_view kImageWidth = "image/width";
inline constexpr std::string_view kImageClassLabel = "image/class/label";
inline constexpr std::string_view kImageClassText = "image/class/text";
inline constexpr std::string_view kImageFilename = "image/filename";

}  // namespace recpack::pack
