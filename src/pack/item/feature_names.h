// Names of the features that sources of images and sounds write (docs/reference/sources.md).
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

inline constexpr std::string_view kAudioEncoded = "audio/encoded";
inline constexpr std::string_view kAudioFormat = "audio/format";
inline constexpr std::string_view kAudioRate = "audio/rate";
inline constexpr std::string_view kAudioChannels = "audio/channels";
inline constexpr std::string_view kAudioFrames = "audio/frames";
inline constexpr std::string_view kAudioFilename = "audio/filename";
inline constexpr std::string_view kLabel = "label";  // of sounds
inline constexpr std::string_view kLabelText = "label/text";

}  // namespace recpack::pack
