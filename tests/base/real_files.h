// Forwarding file system: base class of test doubles that override single methods.
#pragma once

#include <memory>
#include <string>

#include "recpack/base/file.h"

namespace recpack {

// Forwards all calls; tests override what they observe or disturb.
class RealFiles : public FileSystem {
 public:
  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    return PosixFiles().OpenForReading(path);
  }
  std::unique_ptr<WritableFile> Create(const std::string& path) override {
    return PosixFiles().Create(path);
  }
  void Rename(const std::string& from, const std::string& to, bool durable) override {
    PosixFiles().Rename(from, to, durable);
  }
  void Remove(const std::string& path) override { PosixFiles().Remove(path); }
  bool Exists(const std::string& path) override { return PosixFiles().Exists(path); }
};

// Forwards to another file but has no descriptor, so that all reads go through ReadAt().
class ReadThrough : public ReadableFile {
 public:
  explicit ReadThrough(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}
  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    return file_->ReadAt(offset, out);
  }
  uint64_t Size() const override { return file_->Size(); }
  const std::string& path() const noexcept override { return file_->path(); }

 private:
  std::unique_ptr<ReadableFile> file_;
};

}  // namespace recpack
