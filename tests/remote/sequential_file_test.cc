#include "src/remote/store/sequential_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace recpack::remote {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

struct Range {
  uint64_t begin;
  uint64_t end;
};

// An object in memory that notes what is read and announced.
class Noted final : public ReadableFile {
 public:
  explicit Noted(uint64_t size) : bytes_(size) {
    std::iota(bytes_.begin(), bytes_.end(), uint8_t{0});
  }

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    const uint64_t count = std::min<uint64_t>(out.size(), bytes_.size() - offset);
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), count, out.begin());
    read.push_back({offset, offset + count});
    return count;
  }
  void WillNeed(uint64_t offset, uint64_t size) const noexcept override {
    announced.push_back({offset, offset + size});
  }
  uint64_t Size() const override { return bytes_.size(); }
  const std::string& path() const noexcept override { return path_; }

  uint64_t bytes_read() const {
    return std::accumulate(read.begin(), read.end(), uint64_t{0},
                           [](uint64_t sum, const Range& r) { return sum + r.end - r.begin; });
  }

  mutable std::vector<Range> read, announced;

 private:
  std::vector<uint8_t> bytes_;
  const std::string path_ = "object";
};

void ExpectBytes(const SequentialFile& file, uint64_t offset, size_t size) {
  std::vector<uint8_t> out(size);
  ASSERT_EQ(file.ReadAt(offset, out), size);
  for (size_t i = 0; i < size; i += 97) {
    ASSERT_EQ(out[i], static_cast<uint8_t>(offset + i)) << offset << " + " << i;
  }
}

TEST(SequentialFile, ShortSkipsAreReadThroughInFewPieces) {
  const Noted object(40 * kMiB + 12345);
  const SequentialFile file(object);
  for (uint64_t at = 0; at + 100'000 < object.Size(); at += 100'000) ExpectBytes(file, at, 512);
  EXPECT_LE(object.bytes_read(), object.Size());
  EXPECT_LE(object.read.size(), 20u);
  for (size_t i = 1; i < object.read.size(); ++i) {
    EXPECT_EQ(object.read[i].begin, object.read[i - 1].end);
  }
  // What is announced is read, and no more than 16 MiB before it is.
  ASSERT_FALSE(object.announced.empty());
  for (size_t i = 1; i < object.announced.size(); ++i) {
    EXPECT_EQ(object.announced[i].begin, object.announced[i - 1].end);
    EXPECT_LE(object.announced[i].end - object.announced[i].begin, 16 * kMiB);
  }
  EXPECT_EQ(object.announced.back().end, object.Size());
}

TEST(SequentialFile, LongSkipsAreNotRead) {
  const Noted object(64 * kMiB);
  const SequentialFile file(object);
  for (uint64_t at = 0; at < object.Size(); at += 8 * kMiB) ExpectBytes(file, at, 512);
  EXPECT_EQ(object.read.size(), 8u);
  EXPECT_EQ(object.bytes_read(), 8 * (uint64_t{64} << 10));
  EXPECT_TRUE(object.announced.empty());
}

TEST(SequentialFile, WhatWasAnnouncedIsReadBeforeALongSkip) {
  const Noted object(64 * kMiB);
  const SequentialFile file(object);
  uint64_t at = 0;
  for (; object.announced.empty(); at += 200'000) ExpectBytes(file, at, 512);
  const uint64_t end = object.announced.back().end;
  ExpectBytes(file, end - 1000, 512);
  EXPECT_GE(object.bytes_read(), end - 4 * kMiB);
  ExpectBytes(file, 60 * kMiB, 2 * kMiB);
  ExpectBytes(file, 5, 512);  // back
}

TEST(SequentialFile, EndsWhereTheObjectEnds) {
  const Noted object(100'000);
  const SequentialFile file(object);
  std::vector<uint8_t> out(4096);
  EXPECT_EQ(file.ReadAt(99'000, out), 1000u);
  EXPECT_EQ(file.ReadAt(100'000, out), 0u);
  EXPECT_EQ(file.ReadAt(200'000, out), 0u);
  EXPECT_EQ(SequentialFile(Noted(0)).ReadAt(0, out), 0u);
}

}  // namespace
}  // namespace recpack::remote
