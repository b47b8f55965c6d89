#include "src/pack/item/file_fields.h"

#include <algorithm>
#include <optional>
#include <string>

#include "recpack/audio/wav.h"
#include "recpack/base/error.h"
#include "recpack/image/header.h"
#include "src/pack/item/feature_names.h"

namespace recpack::pack {
namespace {

constexpr FileNames kNamesOfImages = {kImageFilename, kImageClassLabel, kImageClassText};
constexpr FileNames kNamesOfSounds = {kAudioFilename, kLabel, kLabelText};

constexpr std::string_view kWav = "WAV", kWave = "WAVE";
constexpr std::string_view kSoundExtensions[] = {kWav,  kWave, "FLAC", "MP3", "OGG", "OPUS",
                                                 "M4A", "AAC", "AIFF", "AIF", "AU"};

[[noreturn]] void ThrowFor(std::string_view name, const Error& error) {
  Place place = error.place();
  place.path = name;
  throw error.At(std::move(place));
}

bool IsImage(ByteView bytes, std::string_view name) {
  try {
    return ReadImageHeader(bytes).format != ImageFormat::kUnknown;
  } catch (const Error& error) {
    ThrowFor(name, error);
  }
}

// Returns the format of a sound; empty for other files.
std::string_view SoundFormat(ByteView bytes, std::string_view name) {
  const std::string_view detected = DetectSoundFormat(bytes);
  if (detected == kWav) return kWav;
  const std::string extension = ExtensionInCapitals(name);
  const auto* const found = std::ranges::find(kSoundExtensions, extension);
  if (found == std::end(kSoundExtensions) || IsImage(bytes, name)) return {};
  if (*found != kWav && *found != kWave) return *found;
  return detected.empty() ? kWav : detected;
}

// Returns nullopt for a file of an encoding that is not read, such as A-law.
std::optional<WavSound> ParsedWav(ByteView bytes, std::string_view name) {
  try {
    return ParseWav(bytes);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUnsupported) return {};
    ThrowFor(name, error);
  }
}

}  // namespace

const FileNames& AddFile(ByteView bytes, std::string_view name, ImageFields& images,
                         ExampleBuilder& features) {
  const std::string_view format = SoundFormat(bytes, name);
  if (format.empty()) {
    images.Process(bytes, name).AddTo(features);
    return kNamesOfImages;
  }
  features.AddBytes(kAudioEncoded, bytes);
  features.AddBytes(kAudioFormat, AsBytes(format));
  if (format == kWav) {
    if (const auto sound = ParsedWav(bytes, name)) {
      features.AddInt64(kAudioRate, sound->rate);
      features.AddInt64(kAudioChannels, sound->channels);
      features.AddInt64(kAudioFrames, static_cast<int64_t>(sound->frames));
    }
  }
  return kNamesOfSounds;
}

}  // namespace recpack::pack
