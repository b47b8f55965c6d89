// Unnamed temporary file, deleted with its object or its process.
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

// May be written by one thread at a time, and read by any number of threads.
class SpoolFile final : public ReadableFile {
 public:
  // Creates a file in `folder`; "" means $TMPDIR or /tmp. Throws Error (kIo, kNotFound).
  explicit SpoolFile(std::string folder);

  // Throws Error (kIo), for example if the disk is full.
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

// Pool of spool files, one per thread that writes at the same time. Thread-safe.
class SpoolPool {
 public:
  // `folder`: see SpoolFile.
  explicit SpoolPool(std::string folder) : folder_(std::move(folder)) {}

  // Returns a spool for exclusive writing until GiveBack(). It stays open as long as the pool
  // lives.
  SpoolFile& Take();
  void GiveBack(SpoolFile& spool);

 private:
  std::string folder_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SpoolFile>> spools_;
  std::vector<SpoolFile*> free_;
};

}  // namespace recpack
