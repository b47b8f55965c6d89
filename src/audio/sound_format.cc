// Detects formats of sound files by their first bytes.
#include "recpack/audio/wav.h"

namespace recpack {
namespace {

struct Magic {
  std::string_view bytes;
  std::string_view name;
  std::string_view form = {};  // at byte 8
};

constexpr Magic kMagics[] = {{"RIFF", "WAV", "WAVE"},
                             {"RIFX", "RIFX (big-endian WAV)", "WAVE"},
                             {"RF64", "RF64", "WAVE"},
                             {"BW64", "BW64", "WAVE"},
                             {"riff", "Wave64"},
                             {"fLaC", "FLAC"},
                             {"OggS", "Ogg"},
                             {"ID3", "MP3"},
                             {"FORM", "AIFF", "AIFF"},
                             {"FORM", "AIFF-C", "AIFC"},
                             {"caff", "CAF"},
                             {".snd", "AU"},
                             {"\x1A\x45\xDF\xA3", "Matroska or WebM"}};

bool Has(ByteView bytes, std::string_view text, size_t at) noexcept {
  return bytes.size() >= at + text.size() && AsText(bytes.subspan(at, text.size())) == text;
}

// Frames of MPEG audio begin with 11 bits of 1, then a version, a layer (0: AAC), a bit rate and a
// sampling rate, each of which has values that mean nothing.
std::string_view MpegFrame(ByteView bytes) noexcept {
  if (bytes.size() < 4 || bytes[0] != 0xFF || (bytes[1] & 0xE0) != 0xE0) return {};
  const int version = bytes[1] >> 3 & 3, layer = bytes[1] >> 1 & 3;
  const int bit_rate = bytes[2] >> 4, rate = bytes[2] >> 2 & 3;
  if (layer == 0) return (bytes[1] & 0xF0) == 0xF0 ? "AAC" : std::string_view();
  return version != 1 && bit_rate != 15 && rate != 3 ? "MP3" : std::string_view();
}

}  // namespace

std::string_view DetectSoundFormat(ByteView bytes) noexcept {
  constexpr size_t kForm = 8;
  for (const Magic& magic : kMagics) {
    if (Has(bytes, magic.bytes, 0) && Has(bytes, magic.form, magic.form.empty() ? 0 : kForm)) {
      return magic.name;
    }
  }
  if (Has(bytes, "ftyp", 4)) return "MP4";
  return MpegFrame(bytes);
}

}  // namespace recpack
