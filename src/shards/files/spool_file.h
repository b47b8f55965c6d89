// A temporary file without a name: gone with its object, or with the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "recpack/base/descriptor.h"
#include "recpack/base/file.h"

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

// As many spool files as threads write at once. Any number of threads.
class SpoolPool {
 public:
  // `folder` as SpoolFile has it.
  explicit SpoolPool(std::string folder) : folder_(std::move(folder)) {}

  // A spool that nobody else writes to until it is given back. It stays open as long as the pool.
  SpoolFile& Take();
  void GiveBack(SpoolFile& spool);

 private:
  std::string folder_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SpoolFile>> spools_;
  std::vector<SpoolFile*> free_;
};

}  // namespace recpack
