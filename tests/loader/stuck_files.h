// File system whose reads of one file block until released: a disk that does not respond.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "tests/base/real_files.h"

namespace recpack {

// The real file system, except that reads of one file block until they are released. Must live
// until the file is closed, when its readers are gone.
class StuckFiles final : public RealFiles {
 public:
  explicit StuckFiles(std::string path) : path_(std::move(path)) {}
  ~StuckFiles() override {
    LetGo();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_ == 0; });
  }

  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    auto file = PosixFiles().OpenForReading(path);
    if (path != path_) return file;
    return std::make_unique<File>(std::move(file), *this);
  }

  void LetGo() {
    const std::lock_guard lock(mutex_);
    stuck_ = false;
    changed_.notify_all();
  }

 private:
  class File final : public ReadThrough {
   public:
    File(std::unique_ptr<ReadableFile> file, StuckFiles& files)
        : ReadThrough(std::move(file)), files_(files) {
      const std::lock_guard lock(files_.mutex_);
      ++files_.open_;
    }
    ~File() override {
      const std::lock_guard lock(files_.mutex_);
      --files_.open_;
      files_.changed_.notify_all();
    }
    size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      {
        std::unique_lock lock(files_.mutex_);
        files_.changed_.wait(lock, [&] { return !files_.stuck_; });
      }
      return ReadThrough::ReadAt(offset, out);
    }

   private:
    StuckFiles& files_;
  };

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stuck_ = true;
  int open_ = 0;
};

}  // namespace recpack
