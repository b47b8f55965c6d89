// Parser of WAV files: RIFF chunks and the format of the samples.
#include "recpack/audio/wav.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr const char* kConvert =
    "convert it to WAV of 16-bit PCM before packing (ffmpeg -i IN OUT.wav), or decode it in a "
    "function of your own";

constexpr size_t kFirstChunk = 12;          // behind "RIFF", the size and "WAVE"
constexpr size_t kChunkHeader = 8;          // name and size
constexpr uint32_t kOpenSize = 0x7FFFF000;  // sox's; no record holds so much

// Format tags of chunk "fmt ".
constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
constexpr size_t kFormatBytes = 16, kExtensibleBytes = 40;
constexpr size_t kSubformat = 24;  // in the chunk: a GUID, the tag in its first two bytes
constexpr std::array<uint8_t, 14> kSubformatRest = {0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80,
                                                    0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71};

[[noreturn]] void Corrupt(const std::string& reason, size_t offset) {
  throw Error(ErrorKind::kCorrupt, "WAV: " + reason, {.offset = offset});
}

[[noreturn]] void Unsupported(const std::string& reason) {
  throw Error(ErrorKind::kUnsupported, reason, {}, kConvert);
}

std::string TagName(uint16_t tag) {
  switch (tag) {
    case 0x0002:
      return "Microsoft ADPCM";
    case 0x0006:
      return "A-law";
    case 0x0007:
      return "mu-law";
    case 0x0011:
      return "IMA ADPCM";
    case 0x0031:
      return "GSM 6.10";
    case 0x0050:
      return "MPEG layer 1 or 2";
    case 0x0055:
      return "MP3";
    case 0x00FF:
    case 0x1600:
      return "AAC";
    case 0x0161:
      return "Windows Media Audio";
    case 0x2000:
      return "AC-3";
    case 0xF1AC:
      return "FLAC";
    default:
      return format("of format {:#06x}", tag);
  }
}

std::optional<WavEncoding> EncodingOf(uint16_t tag, uint16_t bits) {
  if (tag == kPcm && bits == 8) return WavEncoding::kU8;
  if (tag == kPcm && bits == 16) return WavEncoding::kS16;
  if (tag == kPcm && bits == 24) return WavEncoding::kS24;
  if (tag == kPcm && bits == 32) return WavEncoding::kS32;
  if (tag == kFloat && bits == 32) return WavEncoding::kF32;
  if (tag == kFloat && bits == 64) return WavEncoding::kF64;
  return {};
}

std::string PrintableName(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

struct Chunk {
  std::string_view name;
  uint32_t size = 0;
  size_t at = 0;  // of its content
};

Chunk ChunkAt(ByteView file, size_t at) {
  const uint8_t* const header = file.data() + at;
  return {AsText(file.subspan(at, 4)), LoadLittleEndian<uint32_t>(header + 4), at + kChunkHeader};
}

// Sets the sound's encoding, rate and channels by chunk "fmt ".
void ParseFormat(ByteView content, size_t at, WavSound& sound) {
  if (content.size() < kFormatBytes) {
    Corrupt(format("its format has {} bytes, at least {} are needed", content.size(), kFormatBytes),
            at);
  }
  auto tag = LoadLittleEndian<uint16_t>(content.data());
  sound.channels = LoadLittleEndian<uint16_t>(content.data() + 2);
  sound.rate = LoadLittleEndian<uint32_t>(content.data() + 4);
  const auto frame_bytes = LoadLittleEndian<uint16_t>(content.data() + 12);
  const auto bits = LoadLittleEndian<uint16_t>(content.data() + 14);
  if (tag == kExtensible) {
    if (content.size() < kExtensibleBytes) {
      Corrupt(format("its extensible format has {} bytes, at least {} are needed", content.size(),
                     kExtensibleBytes),
              at);
    }
    const ByteView rest = content.subspan(kSubformat + 2, kSubformatRest.size());
    if (!std::ranges::equal(rest, kSubformatRest)) {
      Unsupported("the sound is WAV of an extensible format that has no number");
    }
    tag = LoadLittleEndian<uint16_t>(content.data() + kSubformat);
  }
  if (tag != kPcm && tag != kFloat) {
    Unsupported(format("the sound is WAV {}, and only PCM and floats are read", TagName(tag)));
  }
  if (sound.channels == 0) Corrupt("it has 0 channels", at + 2);
  if (sound.rate == 0) Corrupt("it has 0 frames per second", at + 4);
  const auto encoding = EncodingOf(tag, bits);
  if (!encoding) {
    Unsupported(format("the sound is WAV with {} {} bits a sample",
                       tag == kPcm ? "PCM of" : "floats of", bits));
  }
  sound.encoding = *encoding;
  const size_t expected = sound.channels * WavSampleBytes(sound.encoding);
  if (frame_bytes != expected) {
    Corrupt(format("{} channels of {} bits take {} bytes a frame, its format says {}",
                   sound.channels, bits, expected, frame_bytes),
            at + 12);
  }
}

// Returns the size of the samples' chunk. 0 is an open size, unless the file's own size is right
// and so was written at the end.
size_t SamplesSize(ByteView file, const Chunk& chunk) {
  const size_t left = file.size() - chunk.at;
  const size_t riff_end = size_t{LoadLittleEndian<uint32_t>(file.data() + 4)} + kChunkHeader;
  const bool closed = riff_end == file.size() || riff_end + 1 == file.size();
  if (chunk.size >= kOpenSize || (chunk.size == 0 && !closed)) return left;
  if (chunk.size > left) {
    Corrupt(format("it is cut: {} bytes of samples are missing", chunk.size - left), file.size());
  }
  return chunk.size;
}

void CheckIsWav(ByteView file) {
  const std::string_view found = DetectSoundFormat(file);
  if (found == "WAV") return;
  if (!found.empty()) Unsupported(format("the sound is {}, and only WAV is read", found));
  if (file.size() < kFirstChunk && AsText(file).starts_with(std::string_view("RIFF").substr(
                                       0, std::min<size_t>(file.size(), 4)))) {
    Corrupt(format("it is cut after {} bytes", file.size()), file.size());
  }
  Unsupported("the sound is not WAV: it does not begin with RIFF and WAVE");
}

}  // namespace

WavSound ParseWav(ByteView file) {
  CheckIsWav(file);
  WavSound sound;
  size_t at = kFirstChunk;
  while (file.size() - at >= kChunkHeader) {
    const Chunk chunk = ChunkAt(file, at);
    if (chunk.name == "data") {
      if (sound.channels == 0) Corrupt("its samples come before their format", at);
      const size_t frame_bytes = sound.channels * WavSampleBytes(sound.encoding);
      sound.frames = SamplesSize(file, chunk) / frame_bytes;
      sound.samples = file.data() + chunk.at;
      return sound;
    }
    const size_t left = file.size() - chunk.at;
    if (chunk.size > left) {
      Corrupt(format("it is cut in chunk '{}'", PrintableName(chunk.name)), file.size());
    }
    if (chunk.name == "fmt ") ParseFormat(file.subspan(chunk.at, chunk.size), chunk.at, sound);
    at = chunk.at + chunk.size;
    if (chunk.size % 2 == 1 && at < file.size()) ++at;  // padding
  }
  Corrupt("it has no samples", file.size());
}

}  // namespace recpack
