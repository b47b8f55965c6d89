// Makes WAV files for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"

namespace recpack {

// Appends numbers in little-endian order.
template <typename T>
void Append(ByteBuffer& bytes, T value) {
  bytes.resize(bytes.size() + sizeof value);
  StoreLittleEndian(bytes.data() + bytes.size() - sizeof value, value);
}

inline void AppendText(ByteBuffer& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

// A chunk, padded to an even size.
inline void AppendChunk(ByteBuffer& bytes, std::string_view name, ByteView content) {
  AppendText(bytes, name);
  Append(bytes, static_cast<uint32_t>(content.size()));
  bytes.insert(bytes.end(), content.begin(), content.end());
  if (content.size() % 2 == 1) bytes.push_back(0);
}

// Format of a WAV file; by default one channel of 16-bit PCM.
struct WavFormat {
  uint16_t tag = 1;
  uint16_t channels = 1;
  uint32_t rate = 8000;
  uint16_t bits = 16;
  bool extensible = false;
};

inline ByteBuffer FormatChunk(const WavFormat& wav) {
  ByteBuffer chunk;
  const uint16_t frame = static_cast<uint16_t>(wav.channels * wav.bits / 8);
  Append(chunk, wav.extensible ? uint16_t{0xFFFE} : wav.tag);
  Append(chunk, wav.channels);
  Append(chunk, wav.rate);
  Append(chunk, wav.rate * frame);
  Append(chunk, frame);
  Append(chunk, wav.bits);
  if (!wav.extensible) return chunk;
  Append(chunk, uint16_t{22});
  Append(chunk, wav.bits);     // valid ones
  Append(chunk, uint32_t{0});  // places of the channels
  Append(chunk, wav.tag);
  for (const int byte : {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71}) {
    chunk.push_back(static_cast<uint8_t>(byte));
  }
  return chunk;
}

// Sets the size in the file's header.
inline void CloseRiff(ByteBuffer& file) {
  StoreLittleEndian(file.data() + 4, static_cast<uint32_t>(file.size() - 8));
}

inline ByteBuffer WavOf(const WavFormat& wav, ByteView samples) {
  ByteBuffer file;
  AppendText(file, "RIFF");
  Append(file, uint32_t{0});
  AppendText(file, "WAVE");
  AppendChunk(file, "fmt ", FormatChunk(wav));
  AppendChunk(file, "data", samples);
  CloseRiff(file);
  return file;
}

// A file of 16-bit PCM; `samples` are interleaved.
inline ByteBuffer WavOf16(const std::vector<int16_t>& samples, uint16_t channels = 1,
                          uint32_t rate = 8000) {
  ByteBuffer bytes;
  for (const int16_t sample : samples) Append(bytes, sample);
  return WavOf({.channels = channels, .rate = rate}, bytes);
}

}  // namespace recpack
