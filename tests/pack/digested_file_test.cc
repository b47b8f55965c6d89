// Tests that a digest is the file's, whatever was read of it before.
#include "src/pack/check/digested_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace recpack::pack {
namespace {

// A file in memory that counts what is read of it.
class CountedFile final : public ReadableFile {
 public:
  explicit CountedFile(size_t size) : bytes_(size) {
    for (size_t i = 0; i < size; ++i) bytes_[i] = static_cast<uint8_t>(i * 7 + i / 251);
  }

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    const size_t got = std::min<size_t>(out.size(), bytes_.size() - std::min(offset, Size()));
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), got, out.begin());
    read_ += got;
    return got;
  }
  size_t ReadAgain(uint64_t offset, std::span<uint8_t> out) const override {
    return ReadAt(offset, out);
  }
  uint64_t Size() const override { return bytes_.size(); }
  const std::string& path() const noexcept override { return path_; }

  uint64_t read() const { return read_; }
  Sha256Digest Digest() const {
    Sha256 digest;
    digest.Update(bytes_);
    return digest.Finish();
  }

 private:
  ByteBuffer bytes_;
  std::string path_ = "file";
  mutable uint64_t read_ = 0;
};

class DigestedFileTest : public testing::Test {
 protected:
  void Read(uint64_t begin, uint64_t end) {
    ByteBuffer out(end - begin);
    digested_.ReadAt(begin, out);
  }

  CountedFile file_{10'000};
  FileDigest digest_;
  DigestedFile digested_{file_, &digest_};
};

TEST_F(DigestedFileTest, BytesThatAreReadInOrderAreNotReadAgain) {
  for (uint64_t at = 0; at < 10'000; at += 1'000) Read(at, at + 1'000);
  EXPECT_EQ(digest_.Finish(file_), file_.Digest());
  EXPECT_EQ(file_.read(), 10'000u);
}

TEST_F(DigestedFileTest, BytesThatOverlapCountOnce) {
  Read(0, 3'000);
  Read(1'000, 2'000);
  Read(2'500, 10'000);
  EXPECT_EQ(digest_.Finish(file_), file_.Digest());
  EXPECT_EQ(file_.read(), 3'000u + 1'000u + 7'500u);
}

TEST_F(DigestedFileTest, WhatIsLeftOutIsReadAtTheEnd) {
  Read(0, 1'000);
  Read(5'000, 6'000);
  EXPECT_EQ(digest_.Finish(file_), file_.Digest());
  EXPECT_EQ(file_.read(), 1'000u + 1'000u + 9'000u);
}

TEST_F(DigestedFileTest, NothingIsTrustedOfAFileThatCameDamaged) {
  ByteBuffer wrong(2'000, 1);
  digest_.See(0, wrong);
  ByteBuffer out(100);
  digested_.ReadAgain(50, out);
  EXPECT_EQ(digest_.Finish(file_), file_.Digest());
}

}  // namespace
}  // namespace recpack::pack
