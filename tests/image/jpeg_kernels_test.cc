// Tests that the kernels of every CPU level match the scalar ones bit for bit.
#include "src/image/jpeg/jpeg_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "recpack/base/random.h"

namespace recpack {
namespace {

uint8_t RandomByte(KeyedRandom& random) { return static_cast<uint8_t>(random.NextBelow(256)); }

std::vector<uint8_t> RandomBytes(size_t size, KeyedRandom& random) {
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = RandomByte(random);
  return bytes;
}

TEST(JpegKernelsTest, ZigzagVisitsEveryPlace) {
  std::array<uint8_t, kBlockSize> sorted = kZigzagIndex;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], i);
  // T.81, figure 5: the first diagonals and the last one.
  EXPECT_EQ(kZigzagIndex[1], BlockIndex(0, 1));
  EXPECT_EQ(kZigzagIndex[2], BlockIndex(1, 0));
  EXPECT_EQ(kZigzagIndex[3], BlockIndex(2, 0));
  EXPECT_EQ(kZigzagIndex[28], BlockIndex(0, 7));
  EXPECT_EQ(kZigzagIndex[35], BlockIndex(7, 0));
  EXPECT_EQ(kZigzagIndex[62], BlockIndex(7, 6));
}

TEST(JpegKernelsTest, InverseDctsAreEqual) {
  KeyedRandom random(1, 0, 0);
  alignas(32) int16_t block[kBlockSize], quantisers[kBlockSize];
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const int range = 1 << (1 + random.NextBelow(11)), coefficients = 1 << random.NextBelow(7);
    std::vector<int16_t> given(kBlockSize);
    for (int k = 0; k < coefficients; ++k) {
      given[random.NextBelow(kBlockSize)] = static_cast<int16_t>(
          static_cast<int>(random.NextBelow(static_cast<uint32_t>(2 * range))) - range);
    }
    for (int16_t& q : quantisers)
      q = static_cast<int16_t>(1 + random.NextBelow(i % 3 == 0 ? 9 : 2));
    std::vector<uint8_t> expected(8 * 11, 1);
    std::copy(given.begin(), given.end(), block);
    const bool fits = kScalarJpeg.inverse_dct(block, quantisers, expected.data(), 11);
    refused += fits ? 0 : 1;
    for (const JpegKernels* kernels : AvailableJpegKernels()) {
      std::vector<uint8_t> pixels(8 * 11, 1);
      std::copy(given.begin(), given.end(), block);
      ASSERT_EQ(kernels->inverse_dct(block, quantisers, pixels.data(), 11), fits) << kernels->name;
      ASSERT_TRUE(!fits || pixels == expected) << kernels->name;
      ASSERT_TRUE(std::all_of(block, block + kBlockSize, [](int v) { return v == 0; }));
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 15000);
}

TEST(JpegKernelsTest, LargestProductsAreRefused) {
  alignas(32) int16_t block[kBlockSize], quantisers[kBlockSize];
  for (const int16_t value : {int16_t{-32767}, int16_t{32767}, int16_t{1023}}) {
    for (const JpegKernels* kernels : AvailableJpegKernels()) {
      std::fill_n(block, kBlockSize, static_cast<int16_t>(1023));
      block[0] = value;
      std::fill_n(quantisers, kBlockSize, static_cast<int16_t>(kMaxQuantiser));
      uint8_t pixels[kBlockSize];
      EXPECT_FALSE(kernels->inverse_dct(block, quantisers, pixels, 8)) << kernels->name;
    }
  }
}

TEST(JpegKernelsTest, DcAloneIsTheWholeTransform) {
  alignas(32) int16_t block[kBlockSize] = {}, quantisers[kBlockSize];
  std::fill_n(quantisers, kBlockSize, int16_t{1});
  for (int dc = -kMaxBlockSum - 1; dc <= kMaxBlockSum + 1; ++dc) {
    uint8_t whole[kBlockSize] = {}, alone[kBlockSize] = {};
    block[0] = static_cast<int16_t>(dc);
    const bool fits = kScalarJpeg.inverse_dct(block, quantisers, whole, 8);
    ASSERT_EQ(InverseDctOfDc(dc, alone, 8), fits) << dc;
    ASSERT_TRUE(std::equal(whole, whole + kBlockSize, alone)) << dc;
  }
}

TEST(JpegKernelsTest, UpsamplingIsEqual) {
  KeyedRandom random(2, 0, 0);
  for (int count = 1; count < 100; ++count) {
    const size_t size = static_cast<size_t>(count) + 2 * kSamplePadding;
    const std::vector<uint8_t> near = RandomBytes(size, random), far = RandomBytes(size, random);
    const uint8_t* a = near.data() + kSamplePadding;
    const uint8_t* b = far.data() + kSamplePadding;
    std::vector<uint8_t> expected(2 * size), out(2 * size);
    const auto is_equal = [&] {
      return std::equal(out.begin(), out.begin() + 2 * count, expected.begin());
    };
    for (const JpegKernels* kernels : AvailableJpegKernels()) {
      kScalarJpeg.widen(a, count, expected.data());
      kernels->widen(a, count, out.data());
      ASSERT_TRUE(is_equal()) << kernels->name;
      kScalarJpeg.widen_between(a, b, count, expected.data());
      kernels->widen_between(a, b, count, out.data());
      ASSERT_TRUE(is_equal()) << kernels->name;
    }
  }
}

// Tests every chroma value, with luma that saturates and luma that does not.
TEST(JpegKernelsTest, ColoursAreEqual) {
  std::vector<uint8_t> y(256), blue(256), red(256), expected(3 * 256), out(3 * 256);
  for (int cr = 0; cr < 256; ++cr) {
    for (int light = 0; light < 256; light += 51) {
      for (int cb = 0; cb < 256; ++cb) {
        y[static_cast<size_t>(cb)] = static_cast<uint8_t>(light);
        blue[static_cast<size_t>(cb)] = static_cast<uint8_t>(cb);
        red[static_cast<size_t>(cb)] = static_cast<uint8_t>(cr);
      }
      kScalarJpeg.to_rgb(y.data(), blue.data(), red.data(), 256, expected.data());
      for (const JpegKernels* kernels : AvailableJpegKernels()) {
        kernels->to_rgb(y.data(), blue.data(), red.data(), 256, out.data());
        ASSERT_EQ(out, expected) << kernels->name;
      }
    }
  }
}

TEST(JpegKernelsTest, ColoursStayWithinTheRow) {
  KeyedRandom random(3, 0, 0);
  for (int pixels = 1; pixels < 70; ++pixels) {
    const std::vector<uint8_t> samples = RandomBytes(256, random);
    const auto row_of = [&](const JpegKernels& kernels) {
      std::vector<uint8_t> row(300, 7);
      kernels.to_rgb(&samples[0], &samples[70], &samples[140], pixels, row.data());
      return row;
    };
    for (const JpegKernels* kernels : AvailableJpegKernels()) {
      const std::vector<uint8_t> row = row_of(*kernels);
      ASSERT_EQ(row, row_of(kScalarJpeg)) << kernels->name;
      ASSERT_EQ(std::count(row.begin() + 3 * pixels, row.end(), 7), 300 - 3 * pixels);
    }
  }
}

}  // namespace
}  // namespace recpack
