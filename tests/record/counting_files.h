// How much is read.
#pragma once

#include <memory>
#include <string>

#include "recpack/base/file.h"

namespace recpack {

// The real files, and how many bytes of them are read.
class CountingFiles final : public FileSystem {
 public:
  uint64_t bytes = 0;

  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    return std::make_unique<File>(PosixFiles().OpenForReading(path), bytes);
  }
  std::unique_ptr<WritableFile> Create(const std::string& path) override {
    return PosixFiles().Create(path);
  }
  void Rename(const std::string& from, const std::string& to, bool durable) override {
    PosixFiles().Rename(from, to, durable);
  }
  void Remove(const std::string& path) override { PosixFiles().Remove(path); }
  bool Exists(const std::string& path) override { return PosixFiles().Exists(path); }

 private:
  class File final : public ReadableFile {
   public:
    File(std::unique_ptr<ReadableFile> file, uint64_t& bytes)
        : file_(std::move(file)), bytes_(bytes) {}
    size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      const size_t got = file_->ReadAt(offset, out);
      bytes_ += got;
      return got;
    }
    uint64_t Size() const override { return file_->Size(); }
    const std::string& path() const noexcept override { return file_->path(); }

   private:
    std::unique_ptr<ReadableFile> file_;
    uint64_t& bytes_;
  };
};

}  // namespace recpack
