// Every prefix of WAV files, and files with flipped bits: an error with a reason, or samples within
// the file. ASan and UBSan detect invalid accesses.
#include <gtest/gtest.h>

#include <vector>

#include "recpack/audio/wav.h"
#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "tests/audio/wav_file.h"

namespace recpack {
namespace {

std::vector<ByteBuffer> Originals() {
  std::vector<ByteBuffer> files;
  const std::pair<uint16_t, uint16_t> encodings[] = {{1, 8},  {1, 16}, {1, 24},
                                                     {1, 32}, {3, 32}, {3, 64}};
  for (const auto& [tag, bits] : encodings) {
    for (uint16_t channels = 1; channels <= 3; ++channels) {
      for (const bool extensible : {false, true}) {
        files.push_back(
            WavOf({.tag = tag, .channels = channels, .bits = bits, .extensible = extensible},
                  ByteBuffer(size_t{6} * channels * bits / 8, 0x5A)));
        AppendChunk(files.back(), "LIST", ByteBuffer(5));
        CloseRiff(files.back());
      }
    }
  }
  return files;
}

// Reads all samples of the file, which is copied so that sanitizers see its end.
bool Reads(ByteView file) {
  const ByteBuffer copy(file.begin(), file.end());
  try {
    const WavSound sound = ParseWav(copy);
    const size_t count = sound.frames * sound.channels;
    EXPECT_LE(count * WavSampleBytes(sound.encoding), file.size());
    std::vector<float> samples(count);
    ReadWavChannels(sound, 0, sound.frames, sound.frames, samples.data());
    ReadWavMean(sound, 0, sound.frames, samples.data());
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported);
    EXPECT_FALSE(error.reason().empty());
    return false;
  }
}

TEST(WavDamage, OfEveryPrefix) {
  for (const ByteBuffer& file : Originals()) {
    const size_t end = file.size() - 14;  // of the samples
    for (size_t size = 0; size <= file.size(); ++size) {
      EXPECT_EQ(Reads(ByteView(file).first(size)), size >= end) << size << " of " << file.size();
    }
  }
}

TEST(WavDamage, OfFlippedBits) {
  KeyedRandom random(1, 0, 0);
  const std::vector<ByteBuffer> originals = Originals();
  int read = 0;
  constexpr int kMutations = 20000;
  for (int i = 0; i < kMutations; ++i) {
    ByteBuffer file = originals[random.NextBelow(static_cast<uint32_t>(originals.size()))];
    for (uint32_t flips = 1 + random.NextBelow(4); flips > 0; --flips) {
      file[random.NextBelow(static_cast<uint32_t>(file.size()))] ^=
          static_cast<uint8_t>(1 << random.NextBelow(8));
    }
    if (random.NextBelow(4) == 0) file.resize(random.NextBelow(static_cast<uint32_t>(file.size())));
    read += Reads(file) ? 1 : 0;
  }
  EXPECT_GT(read, kMutations / 10);
  EXPECT_LT(read, kMutations);
}

}  // namespace
}  // namespace recpack
