// Parser of WAV files, and conversion of their samples to floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recpack/base/bytes.h"

namespace recpack {

// How a WAV file stores a sample: unsigned or signed integers, or IEEE 754 floats, little-endian.
enum class WavEncoding : uint8_t { kU8, kS16, kS24, kS32, kF32, kF64 };

// Size of one sample of one channel [bytes].
size_t WavSampleBytes(WavEncoding encoding) noexcept;

// A parsed WAV file. Views its bytes, which must outlive it.
struct WavSound {
  WavEncoding encoding = WavEncoding::kS16;
  uint32_t rate = 0;      // frames per second
  uint32_t channels = 0;  // samples per frame
  uint64_t frames = 0;
  const uint8_t* samples = nullptr;  // interleaved: frames * channels of them, not aligned
};

// Parses a RIFF/WAVE file of PCM (8 bits unsigned; 16, 24 or 32 bits signed) or IEEE floats (32 or
// 64 bits), also as WAVE_FORMAT_EXTENSIBLE. Other chunks are skipped, and nothing behind the
// samples is looked at. A writer that cannot seek leaves the size of the samples open, as 0 or as
// more than 2 GB: they then go on to the end of the bytes. Samples of an unfinished last frame are
// left out.
//
// Throws Error: kCorrupt, with the byte offset, if the file is cut or contradicts itself;
// kUnsupported, with the name of the format, for others: A-law, mu-law, ADPCM, RF64, MP3, FLAC,
// Ogg, ...
WavSound ParseWav(ByteView file);

// Returns the name of the format of sounds that the bytes begin as, such as "WAV", "RF64", "MP3",
// "FLAC" or "Ogg"; empty if it is none of those known.
std::string_view DetectSoundFormat(ByteView bytes) noexcept;

// Both convert `count` frames of the sound from frame `first` on, which it has. Integers are
// divided by 2 to the power of bits - 1, 8-bit ones after subtracting 128, and are then from -1 to
// 1, which only 32 bits round to; floats stay as they are, rounded to f32.

// Writes channel c to out[c * stride] and on; `stride` is at least `count`.
void ReadWavChannels(const WavSound& sound, uint64_t first, size_t count, size_t stride,
                     float* out) noexcept;

// Writes the mean of the channels: their sum in f32, in order, divided by their number.
void ReadWavMean(const WavSound& sound, uint64_t first, size_t count, float* out) noexcept;

}  // namespace recpack
