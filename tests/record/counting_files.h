// File system that counts the bytes read.
#pragma once

#include <memory>
#include <string>

#include "tests/base/real_files.h"

namespace recpack {

// Forwards to the real files and counts the bytes read.
class CountingFiles final : public RealFiles {
 public:
  uint64_t bytes = 0;

  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    return std::make_unique<File>(PosixFiles().OpenForReading(path), bytes);
  }

 private:
  class File final : public ReadThrough {
   public:
    File(std::unique_ptr<ReadableFile> file, uint64_t& bytes)
        : ReadThrough(std::move(file)), bytes_(bytes) {}
    size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      const size_t got = ReadThrough::ReadAt(offset, out);
      bytes_ += got;
      return got;
    }

   private:
    uint64_t& bytes_;
  };
};

}  // namespace recpack
