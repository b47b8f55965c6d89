// A temporary file without a name: gone with its object, or with the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "recpack/base/file.h"
#include "src/dataset/descriptor.h"

namespace recpack {

// Written by one thread at a time, read by any number.
class SpoolFile final : public ReadableFile {
 public:
  // In `folder`; "" is $TMPDIR, or /tmp. Throws Error (kIo, kNotFound).
  explicit SpoolFile(std::string folder);

  // Throws Error (kIo) where the disk is full.
  void Append(ByteView bytes);

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  uint64_t Size() const override { return size_; }
  int descriptor() const noexcept override { return fd_.get(); }
  const std::string& path() const noexcept override { return folder_; }

 private:
  std::string folder_;
  Descriptor fd_;
  std::atomic<uint64_t> size_{0};
};

}  // namespace recpack
