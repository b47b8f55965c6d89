// File system with injected failures.
#pragma once

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include "recpack/base/error.h"
#include "tests/base/real_files.h"

namespace recpack {

class FaultyFiles final : public RealFiles {
 public:
  // Bytes that can be written until the disk is full.
  std::atomic<int64_t> room = INT64_MAX;
  // Renames to paths with this suffix fail.
  std::string unrenamable = "\n";

  std::function<void(const std::string& to)> before_rename = [](const std::string&) {};

  std::unique_ptr<WritableFile> Create(const std::string& path) override {
    return std::make_unique<File>(RealFiles::Create(path), *this);
  }
  void Rename(const std::string& from, const std::string& to, bool durable) override {
    before_rename(to);
    if (to.ends_with(unrenamable)) throw SystemError("cannot rename to", to, EACCES);
    RealFiles::Rename(from, to, durable);
  }

 private:
  class File final : public WritableFile {
   public:
    File(std::unique_ptr<WritableFile> file, FaultyFiles& files)
        : file_(std::move(file)), files_(files) {}
    void Write(ByteView bytes) override {
      if ((files_.room -= static_cast<int64_t>(bytes.size())) < 0) {
        throw SystemError("cannot write", path(), ENOSPC);
      }
      file_->Write(bytes);
    }
    void Sync() override { file_->Sync(); }
    void Close() override { file_->Close(); }
    const std::string& path() const noexcept override { return file_->path(); }

   private:
    std::unique_ptr<WritableFile> file_;
    FaultyFiles& files_;
  };
};

}  // namespace recpack
