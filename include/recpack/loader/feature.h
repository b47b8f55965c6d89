// Finds features of records by their usual names.
#pragma once

#include <string>

#include "recpack/example/view.h"

namespace recpack {

// Names of the image, of the sound and of the label, of which a record has one.
inline constexpr const char* kImageNames[] = {"image/encoded", "image"};
inline constexpr const char* kAudioNames[] = {"audio/encoded", "audio"};
inline constexpr const char* kLabelNames[] = {"image/class/label", "label"};

// Returns the feature, or null if the record has none. The image is found as `image` or
// `image/encoded`, the sound as `audio` or `audio/encoded`, the label as `label` or
// `image/class/label`, whichever of the two names the record has.
const FeatureView* FindFeature(const ExampleView& example, const std::string& feature);

// The same, but throws Error (kInvalidArgument) that lists the record's features if it is missing.
const FeatureView& RequireFeature(const ExampleView& example, const std::string& feature);

// Returns the feature that holds the picture, as an ImageField without a feature reads it: the
// first that exists of image/encoded, image, jpg, jpeg, png, webp, bmp, gif, avif, tif,
// tiff. Null if there is none.
const FeatureView* FindPicture(const ExampleView& example) noexcept;

// Returns the feature that holds the sound, as an AudioField without a feature reads it: the first
// that exists of audio/encoded, audio, wav, sound, flac, mp3, ogg. Null if there is none.
const FeatureView* FindSound(const ExampleView& example) noexcept;

}  // namespace recpack
