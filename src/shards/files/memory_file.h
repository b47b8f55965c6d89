// Readable file in memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "recpack/base/file.h"

namespace recpack {

class MemoryFile final : public ReadableFile {
 public:
  MemoryFile(std::string path, std::unique_ptr<uint8_t[]> content, uint64_t size)
      : path_(std::move(path)), content_(std::move(content)), size_(size) {}

  ByteView bytes() const noexcept { return {content_.get(), size_}; }

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset >= size_) return 0;
    const size_t count = std::min<uint64_t>(out.size(), size_ - offset);
    if (count > 0) std::memcpy(out.data(), content_.get() + offset, count);
    return count;
  }

  uint64_t Size() const override { return size_; }
  const std::string& path() const noexcept override { return path_; }

 private:
  std::string path_;
  std::unique_ptr<uint8_t[]> content_;
  uint64_t size_;
};

}  // namespace recpack
