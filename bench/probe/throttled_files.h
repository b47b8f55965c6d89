// File system with a limited read bandwidth.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "recpack/base/file.h"

namespace recpack::bench {

// The operating system's files, with a limit on the bandwidth of all readers together. Thread-safe.
class ThrottledFiles : public FileSystem {
 public:
  explicit ThrottledFiles(double bytes_per_second) : rate_(bytes_per_second) {}

  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    return std::make_unique<File>(PosixFiles().OpenForReading(path), *this);
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
  using Clock = std::chrono::steady_clock;

  class File : public ReadableFile {
   public:
    File(std::unique_ptr<ReadableFile> file, ThrottledFiles& disk)
        : file_(std::move(file)), disk_(disk) {}

    size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      disk_.Wait(out.size());
      return file_->ReadAt(offset, out);
    }
    uint64_t Size() const override { return file_->Size(); }
    const std::string& path() const noexcept override { return file_->path(); }

   private:
    const std::unique_ptr<ReadableFile> file_;
    ThrottledFiles& disk_;
  };

  // Serves requests one after the other.
  void Wait(size_t bytes) {
    Clock::time_point done;
    {
      const std::lock_guard lock(mutex_);
      const std::chrono::duration<double> takes(static_cast<double>(bytes) / rate_);
      free_ = std::max(free_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
      done = free_;
    }
    std::this_thread::sleep_until(done);
  }

  const double rate_;
  std::mutex mutex_;
  Clock::time_point free_;
};

}  // namespace recpack::bench
