#include "recpack/audio/wav.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "tests/audio/wav_file.h"
#include "tests/base/error_of.h"
#include "tests/golden.h"

namespace recpack {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

template <typename T>
ByteBuffer BytesOf(const std::vector<T>& values) {
  ByteBuffer bytes;
  for (const T value : values) Append(bytes, value);
  return bytes;
}

ByteBuffer BytesOf24(const std::vector<int32_t>& values) {
  ByteBuffer bytes;
  for (const int32_t value : values) {
    for (int shift = 0; shift < 24; shift += 8) {
      bytes.push_back(static_cast<uint8_t>(value >> shift));
    }
  }
  return bytes;
}

std::vector<float> Floats(ByteView file) {
  const WavSound sound = ParseWav(file);
  std::vector<float> samples(sound.frames * sound.channels);
  ReadWavChannels(sound, 0, sound.frames, sound.frames, samples.data());
  return samples;
}

struct Case {
  const char* name;
  WavFormat format;
  ByteBuffer samples;
  WavEncoding encoding;
  std::vector<float> expected;
};

// The expected values are the integers divided by 2^(bits - 1).
std::vector<Case> Cases() {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  return {
      {"u8",
       {.bits = 8},
       {0, 64, 128, 129, 255},
       WavEncoding::kU8,
       {-1, -0.5F, 0, 1.0F / 128, 127.0F / 128}},
      {"s16",
       {.bits = 16},
       BytesOf<int16_t>({-32768, -1, 0, 16384, 32767}),
       WavEncoding::kS16,
       {-1, -1.0F / 32768, 0, 0.5F, 32767.0F / 32768}},
      {"s24",
       {.bits = 24},
       BytesOf24({-8388608, -1, 0, 65536, 8388607}),
       WavEncoding::kS24,
       {-1, -1.0F / 8388608, 0, 1.0F / 128, 8388607.0F / 8388608}},
      {"s32",
       {.bits = 32},
       BytesOf<int32_t>({INT32_MIN, -128, 0, 1 << 30, INT32_MAX}),
       WavEncoding::kS32,
       {-1, -128.0F / 2147483648.0F, 0, 0.5F, 1}},  // which rounds to 1
      {"f32",
       {.tag = 3, .bits = 32},
       BytesOf<float>({-1.5F, kTiny, 0, 0.1F, 1e30F}),
       WavEncoding::kF32,
       {-1.5F, kTiny, 0, 0.1F, 1e30F}},
      {"f64",
       {.tag = 3, .bits = 64},
       BytesOf<double>({-1.5, 1e-300, 0, 0.1, 1e300}),
       WavEncoding::kF64,
       {-1.5F, 0, 0, 0.1F, INFINITY}},
  };
}

TEST(Wav, EveryEncodingAsPlainAndExtensible) {
  for (Case& each : Cases()) {
    for (const bool extensible : {false, true}) {
      SCOPED_TRACE(each.name);
      each.format.extensible = extensible;
      each.format.rate = 44100;
      const ByteBuffer file = WavOf(each.format, each.samples);
      const WavSound sound = ParseWav(file);
      EXPECT_EQ(sound.encoding, each.encoding);
      EXPECT_EQ(sound.rate, 44100u);
      EXPECT_EQ(sound.channels, 1u);
      EXPECT_EQ(sound.frames, 5u);
      EXPECT_THAT(Floats(file), ElementsAreArray(each.expected));
    }
  }
}

TEST(Wav, ChannelsAndTheirMean) {
  for (Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    each.format.channels = 5;
    const ByteBuffer file = WavOf(each.format, each.samples);
    EXPECT_THAT(Floats(file), ElementsAreArray(each.expected)) << "one frame";
    float sum = each.expected[0], mean = 0;
    for (size_t c = 1; c < 5; ++c) sum += each.expected[c];
    ReadWavMean(ParseWav(file), 0, 1, &mean);
    EXPECT_EQ(mean, sum / 5);
  }
  const ByteBuffer stereo = WavOf16({0, 100, 8192, 16384, -32768, 0}, 2);
  EXPECT_THAT(Floats(stereo), ElementsAre(0, 0.25F, -1, 100.0F / 32768, 0.5F, 0));
  std::vector<float> mean(3);
  ReadWavMean(ParseWav(stereo), 0, 3, mean.data());
  EXPECT_THAT(mean, ElementsAre(50.0F / 32768, 0.375F, -0.5F));
}

// Files of SciPy and of Python's wave (tests/golden/make_sounds.py).
TEST(Wav, ReadsWhatOthersWrite) {
  for (const char* name : {"u8", "s16", "s24", "s32", "f32", "f64"}) {
    const std::string path = GoldenPath("audio/" + std::string(name) + ".wav");
    const ByteBuffer file = ReadWholeFile(PosixFiles(), path);
    const WavSound sound = ParseWav(file);
    EXPECT_EQ(sound.rate, 16000u);
    ASSERT_EQ(sound.channels, 2u);
    ASSERT_EQ(sound.frames, 16u);
    const std::vector<float> samples = Floats(file);
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(samples[i], static_cast<float>(i - 8) / 16) << name;
      EXPECT_EQ(samples[16 + i], static_cast<float>(8 - i) / 16) << name;
    }
  }
}

TEST(Wav, PartsOfASound) {
  const ByteBuffer stereo = WavOf16({0, 1, 8192, 16384, -32768, 0, 5, 5}, 2);
  std::vector<float> out(6, 9);
  ReadWavChannels(ParseWav(stereo), 1, 2, 3, out.data());
  EXPECT_THAT(out, ElementsAre(0.25F, -1, 9, 0.5F, 0, 9));
  ReadWavMean(ParseWav(stereo), 2, 1, out.data());
  EXPECT_EQ(out[0], -0.5F);
}

TEST(Wav, SkipsOtherChunks) {
  ByteBuffer file = WavOf16({}, 1);
  file.resize(12);
  AppendChunk(file, "JUNK", BytesOf<uint8_t>({1, 2, 3}));  // of odd size
  AppendChunk(file, "fmt ", FormatChunk({}));
  AppendChunk(file, "fact", BytesOf<uint32_t>({2}));
  AppendChunk(file, "data", BytesOf<int16_t>({16384, -16384}));
  AppendChunk(file, "LIST", BytesOf<uint8_t>({1, 2, 3}));
  CloseRiff(file);
  EXPECT_THAT(Floats(file), ElementsAre(0.5F, -0.5F));
}

// As writers leave it that cannot seek: the size of the samples is open.
TEST(Wav, StreamsGoOnToTheEnd) {
  for (const uint32_t riff : {0U, 36U, 0xFFFFFFFFU}) {
    for (const uint32_t size : {0U, 0xFFFFFFFFU, 0x7FFFF000U, 0x80000000U}) {
      ByteBuffer file = WavOf16({16384, -16384, 3});
      StoreLittleEndian(file.data() + 4, riff);
      StoreLittleEndian(file.data() + 40, size);
      EXPECT_THAT(Floats(file), ElementsAre(0.5F, -0.5F, 3.0F / 32768));
      file.push_back(7);
      EXPECT_EQ(ParseWav(file).frames, 3u) << "an unfinished frame is left out";
    }
  }
}

TEST(Wav, MayBeEmpty) {
  EXPECT_EQ(ParseWav(WavOf16({})).frames, 0u);
  ByteBuffer file = WavOf16({});
  AppendChunk(file, "LIST", BytesOf<uint8_t>({1, 2, 3, 4}));
  CloseRiff(file);
  EXPECT_EQ(ParseWav(file).frames, 0u) << "the file's size says that it is complete";
}

Error RefusalOf(const ByteBuffer& file) {
  return ErrorOf([&] { ParseWav(file); });
}

ByteBuffer Text(std::string_view text) {
  ByteBuffer bytes;
  AppendText(bytes, text);
  bytes.resize(64);
  return bytes;
}

TEST(Wav, NamesOtherFormats) {
  const std::pair<ByteBuffer, const char*> cases[] = {
      {Text("RF64\xff\xff\xff\xffWAVE"), "RF64"},
      {Text("BW64\xff\xff\xff\xffWAVE"), "BW64"},
      {Text("RIFX....WAVE"), "RIFX"},
      {Text("riff...."), "Wave64"},
      {Text("fLaC"), "FLAC"},
      {Text("OggS"), "Ogg"},
      {Text("ID3\4"), "MP3"},
      {Text("\xff\xfb\x90\x64"), "MP3"},
      {Text("\xff\xf1\x50\x80"), "AAC"},
      {Text("FORM....AIFF"), "AIFF"},
      {Text("FORM....AIFC"), "AIFF-C"},
      {Text(".snd"), "AU"},
      {Text("caff"), "CAF"},
      {Text("....ftypM4A "), "MP4"},
      {Text("\x1A\x45\xDF\xA3"), "Matroska"},
      {Text("RIFF....AVI "), "does not begin with RIFF and WAVE"},
      {Text("\xff\xff\xff\xff"), "does not begin with RIFF and WAVE"},
      {Text("\xff\xd8\xff\xe0"), "does not begin with RIFF and WAVE"},
      {WavOf({.tag = 6, .bits = 8}, {}), "A-law"},
      {WavOf({.tag = 7, .bits = 8}, {}), "mu-law"},
      {WavOf({.tag = 7, .bits = 8, .extensible = true}, {}), "mu-law"},
      {WavOf({.tag = 2, .bits = 4}, {}), "Microsoft ADPCM"},
      {WavOf({.tag = 0x11, .bits = 4}, {}), "IMA ADPCM"},
      {WavOf({.tag = 0x55, .bits = 0}, {}), "MP3"},
      {WavOf({.tag = 0x1234, .bits = 16}, {}), "0x1234"},
      {WavOf({.bits = 12}, {}), "12 bits"},
      {WavOf({.bits = 64}, {}), "PCM of 64 bits"},
      {WavOf({.tag = 3, .bits = 16}, {}), "floats of 16 bits"},
  };
  for (const auto& [file, name] : cases) {
    const Error error = RefusalOf(file);
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << name;
    EXPECT_THAT(error.what(), AllOf(HasSubstr(name), HasSubstr("16-bit PCM before packing")));
  }
  ByteBuffer other = WavOf({.extensible = true}, {});
  other[12 + 8 + 30] ^= 1;
  EXPECT_THAT(RefusalOf(other).what(), HasSubstr("extensible format that has no number"));
}

TEST(Wav, SaysWhereItIsDamaged) {
  const auto expect = [](const ByteBuffer& file, const char* words, uint64_t offset) {
    const Error error = RefusalOf(file);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(words));
    EXPECT_EQ(error.place().offset, offset) << words;
  };
  const ByteBuffer whole = WavOf16({1, 2, 3, 4});
  ByteBuffer file = whole;
  file.resize(file.size() - 3);
  expect(file, "3 bytes of samples are missing", file.size());
  file.resize(30);
  expect(file, "cut in chunk 'fmt '", 30);
  file.resize(10);
  expect(file, "cut after 10 bytes", 10);
  expect({}, "cut after 0 bytes", 0);
  file = whole;
  file.resize(36);
  expect(file, "has no samples", 36);
  file = whole;
  file[12] = 'x';
  expect(file, "samples come before their format", 36);
  file = whole;
  file[16] = 14;  // of chunk "fmt "
  expect(file, "format has 14 bytes", 20);
  file = whole;
  file[22] = 0;
  expect(file, "0 channels", 22);
  file = whole;
  StoreLittleEndian(file.data() + 24, 0U);
  expect(file, "0 frames per second", 24);
  file = whole;
  file[32] = 4;
  expect(file, "take 2 bytes a frame, its format says 4", 32);
  file = whole;
  file[20] = 0xFE, file[21] = 0xFF;
  expect(file, "extensible format has 16 bytes", 20);
  file = whole;
  file[36] = 1;
  StoreLittleEndian(file.data() + 40, 1000U);
  expect(file, "cut in chunk '?ata'", file.size());
}

}  // namespace
}  // namespace recpack
