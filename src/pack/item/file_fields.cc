#include "src/pack/item/file_fields.h"

#include <algorithm>
#include <string>

#include "recpack/base/error.h"
#include "recpack/image/header.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/with_path.h"

namespace recpack::pack {
namespace {

constexpr FileNames kNamesOfImages = {kImageFilename, kImageClassLabel, kImageClassText};
constexpr FileNames kNamesOfSounds = {kAudioFilename, kLabel, kLabelText};

constexpr std::string_view kWav = "WAV", kWave = "WAVE";
constexpr std::string_view kSoundExtensions[] = {kWav,  kWave, "FLAC", "MP3", "OGG", "OPUS",
                                                 "M4A", "AAC", "AIFF", "AIF", "AU"};

bool IsImage(ByteView bytes) { return ReadImageHeader(bytes).format != ImageFormat::kUnknown; }

// Returns the format of a sound; empty for other files.
std::string_view SoundFormat(ByteView bytes, std::string_view name) {
  const std::string_view detected = DetectSoundFormat(bytes);
  if (detected == kWav) return kWav;
  const std::string extension = ExtensionInCapitals(name);
  const auto* const found = std::ranges::find(kSoundExtensions, extension);
  if (found == std::end(kSoundExtensions) || IsImage(bytes)) return {};
  if (*found != kWav && *found != kWave) return *found;
  return detected.empty() ? kWav : detected;
}

}  // namespace

std::optional<WavSound> ParseSupportedWav(ByteView file) {
  try {
    return ParseWav(file);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    return {};
  }
}

const FileNames& AddFile(ByteView bytes, std::string_view name, ImageFields& images,
                         ExampleBuilder& features) {
  std::string_view format;
  std::optional<WavSound> sound;
  WithPath(name, [&] {
    format = SoundFormat(bytes, name);
    if (format == kWav) sound = ParseSupportedWav(bytes);
  });
  if (format.empty()) {
    images.Process(bytes, name).AddTo(features);
    return kNamesOfImages;
  }
  features.AddBytes(kAudioEncoded, bytes);
  features.AddBytes(kAudioFormat, AsBytes(format));
  if (sound) {
    features.AddInt64(kAudioRate, sound->rate);
    features.AddInt64(kAudioChannels, sound->channels);
    features.AddInt64(kAudioFrames, static_cast<int64_t>(sound->frames));
  }
  return kNamesOfSounds;
}

}  // namespace recpack::pack
