#include "recpack/record/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "recpack/base/bytes.h"
#include "recpack/base/cpu.h"

namespace recpack {
namespace {

ByteBuffer Noise(size_t size) {
  ByteBuffer bytes(size);
  uint32_t state = 7;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((state = state * 1664525 + 13) >> 24);
  return bytes;
}

// Bitwise reference implementation.
uint32_t Reference(uint32_t crc, ByteView bytes) {
  crc = ~crc;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

// Contract of every implementation.
class Crc32cContract : public testing::TestWithParam<Crc32cImplementation> {
 protected:
  uint32_t Of(ByteView bytes) const { return GetParam().extend(0, bytes); }
};

TEST_P(Crc32cContract, AnswersOfRfc3720) {
  EXPECT_EQ(Of({}), 0u);
  EXPECT_EQ(Of(AsBytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Of(ByteBuffer(32, 0)), 0x8a9136aau);
  EXPECT_EQ(Of(ByteBuffer(32, 0xff)), 0x62a8ab43u);
  ByteBuffer rising(32);
  for (size_t i = 0; i < 32; ++i) rising[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(Of(rising), 0x46dd794eu);
}

TEST_P(Crc32cContract, EveryLengthUpTo1100) {
  const ByteBuffer noise = Noise(1100);
  for (size_t size = 0; size <= noise.size(); ++size) {
    const ByteView bytes = ByteView(noise).first(size);
    ASSERT_EQ(Of(bytes), Reference(0, bytes)) << size;
  }
}

TEST_P(Crc32cContract, LengthsAroundItsBlocks) {
  const ByteBuffer noise = Noise(20000);
  for (const size_t block : {768u, 1536u, 6144u, 6912u, 12288u, 18432u}) {
    for (size_t size = block - 9; size <= block + 9; ++size) {
      const ByteView bytes = ByteView(noise).first(size);
      ASSERT_EQ(Of(bytes), Reference(0, bytes)) << size;
    }
  }
}

TEST_P(Crc32cContract, EveryAlignment) {
  const ByteBuffer noise = Noise(4000);
  for (size_t start = 0; start < 64; ++start) {
    for (const size_t size : {1u, 7u, 63u, 130u, 257u, 800u, 3100u}) {
      const ByteView bytes = ByteView(noise).subspan(start, size);
      ASSERT_EQ(Of(bytes), Reference(0, bytes)) << start << " " << size;
    }
  }
}

TEST_P(Crc32cContract, ExtendsAtEveryCut) {
  const ByteBuffer noise = Noise(1000);
  const uint32_t whole = Reference(0, noise);
  for (size_t cut = 0; cut <= noise.size(); ++cut) {
    const uint32_t first = Of(ByteView(noise).first(cut));
    ASSERT_EQ(GetParam().extend(first, ByteView(noise).subspan(cut)), whole) << cut;
  }
}

TEST_P(Crc32cContract, TellsEveryFlippedBit) {
  ByteBuffer noise = Noise(900);
  const uint32_t whole = Of(noise);
  for (size_t bit = 0; bit < noise.size() * 8; ++bit) {
    const auto mask = static_cast<uint8_t>(1 << bit % 8);
    noise[bit / 8] ^= mask;
    ASSERT_NE(Of(noise), whole) << bit;
    noise[bit / 8] ^= mask;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Crc32cContract,
                         testing::ValuesIn(Crc32cImplementations().begin(),
                                           Crc32cImplementations().end()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Crc32cChoice, PortableIsAlwaysThereAndTheLastIsActive) {
  const auto all = Crc32cImplementations();
  ASSERT_FALSE(all.empty());
  EXPECT_STREQ(all.front().name, "portable");
  EXPECT_STREQ(ActiveCrc32c().name, all.back().name);
  EXPECT_TRUE(ActiveCpu() != CpuLevel::kPortable || all.size() == 1);
}

TEST(Crc32cOfNumber, IsThatOfItsBytes) {
  for (uint64_t value = 1; value != 0; value <<= 1) {
    uint8_t bytes[8];
    StoreLittleEndian(bytes, value);
    ASSERT_EQ(Crc32cOfU64(value), Reference(0, bytes)) << value;
  }
  EXPECT_EQ(Crc32cOfU64(0), Reference(0, ByteBuffer(8)));
}

TEST(CrcMask, IsTensorFlows) {
  // From tensorflow/core/lib/hash/crc32c_test.cc: masking changes the value, and masking twice
  // differs from masking once.
  const uint32_t crc = Crc32c(AsBytes("foo"));
  EXPECT_NE(MaskCrc(crc), crc);
  EXPECT_NE(MaskCrc(MaskCrc(crc)), crc);
  EXPECT_EQ(UnmaskCrc(MaskCrc(crc)), crc);
  EXPECT_EQ(UnmaskCrc(UnmaskCrc(MaskCrc(MaskCrc(crc)))), crc);
  EXPECT_EQ(MaskCrc(0), 0xa282ead8u);
}

}  // namespace
}  // namespace recpack
