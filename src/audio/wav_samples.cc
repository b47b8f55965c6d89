// Conversion of a WAV file's samples to floats.
#include "recpack/audio/wav.h"

namespace recpack {
namespace {

// Scale by a power of two, which is as exact as the division.
constexpr float kScale8 = 1.0F / 0x80, kScale16 = 1.0F / 0x8000, kScale24 = 1.0F / 0x800000,
                kScale32 = 1.0F / 0x80000000;

constexpr size_t SampleBytes(WavEncoding encoding) noexcept {
  constexpr size_t kBytes[] = {1, 2, 3, 4, 4, 8};
  return kBytes[static_cast<size_t>(encoding)];
}

template <WavEncoding encoding>
float LoadSample(const uint8_t* from) noexcept {
  if constexpr (encoding == WavEncoding::kU8) {
    return static_cast<float>(*from - 0x80) * kScale8;
  } else if constexpr (encoding == WavEncoding::kS16) {
    return static_cast<float>(LoadLittleEndian<int16_t>(from)) * kScale16;
  } else if constexpr (encoding == WavEncoding::kS24) {
    const int32_t high = static_cast<int8_t>(from[2]);
    return static_cast<float>(high * 0x10000 + LoadLittleEndian<uint16_t>(from)) * kScale24;
  } else if constexpr (encoding == WavEncoding::kS32) {
    return static_cast<float>(LoadLittleEndian<int32_t>(from)) * kScale32;
  } else if constexpr (encoding == WavEncoding::kF32) {
    return LoadLittleEndian<float>(from);
  } else {
    return static_cast<float>(LoadLittleEndian<double>(from));
  }
}

// One channel, whose samples lie `step` bytes apart. With a constant step the compiler uses
// vectors.
template <WavEncoding encoding>
void ReadChannel(const uint8_t* from, size_t step, size_t count, float* out) noexcept {
  constexpr size_t kStep = SampleBytes(encoding);
  if (step == kStep) {
    for (size_t i = 0; i < count; ++i) out[i] = LoadSample<encoding>(from + i * kStep);
  } else {
    for (size_t i = 0; i < count; ++i) out[i] = LoadSample<encoding>(from + i * step);
  }
}

template <WavEncoding encoding>
void ReadMean(const uint8_t* from, size_t channels, size_t count, float* out) noexcept {
  constexpr size_t kStep = SampleBytes(encoding);
  if (channels == 2) {
    for (size_t i = 0; i < count; ++i, from += 2 * kStep) {
      out[i] = (LoadSample<encoding>(from) + LoadSample<encoding>(from + kStep)) / 2;
    }
    return;
  }
  const auto divisor = static_cast<float>(channels);
  for (size_t i = 0; i < count; ++i) {
    float sum = LoadSample<encoding>(from);
    for (size_t c = 1; c < channels; ++c) sum += LoadSample<encoding>(from + c * kStep);
    out[i] = sum / divisor;
    from += channels * kStep;
  }
}

// Calls `work` with the encoding as a constant.
template <typename Work>
void WithEncoding(WavEncoding encoding, Work work) noexcept {
  switch (encoding) {
    case WavEncoding::kU8:
      return work.template operator()<WavEncoding::kU8>();
    case WavEncoding::kS16:
      return work.template operator()<WavEncoding::kS16>();
    case WavEncoding::kS24:
      return work.template operator()<WavEncoding::kS24>();
    case WavEncoding::kS32:
      return work.template operator()<WavEncoding::kS32>();
    case WavEncoding::kF32:
      return work.template operator()<WavEncoding::kF32>();
    case WavEncoding::kF64:
      return work.template operator()<WavEncoding::kF64>();
  }
}

}  // namespace

size_t WavSampleBytes(WavEncoding encoding) noexcept { return SampleBytes(encoding); }

void ReadWavChannels(const WavSound& sound, uint64_t first, size_t count, size_t stride,
                     float* out) noexcept {
  const size_t sample_bytes = WavSampleBytes(sound.encoding);
  const size_t step = sound.channels * sample_bytes;
  WithEncoding(sound.encoding, [&]<WavEncoding encoding>() {
    for (size_t c = 0; c < sound.channels; ++c) {
      const uint8_t* const from = sound.samples + first * step + c * sample_bytes;
      ReadChannel<encoding>(from, step, count, out + c * stride);
    }
  });
}

void ReadWavMean(const WavSound& sound, uint64_t first, size_t count, float* out) noexcept {
  if (sound.channels == 1) return ReadWavChannels(sound, first, count, count, out);
  const uint8_t* const from =
      sound.samples + first * sound.channels * WavSampleBytes(sound.encoding);
  WithEncoding(sound.encoding, [&]<WavEncoding encoding>() {
    ReadMean<encoding>(from, sound.channels, count, out);
  });
}

}  // namespace recpack
