// Drops shards from the page cache continuously, in a background thread.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"

namespace recpack::bench {

class DroppedCache {
 public:
  // Drops the shards of a folder until the object is destroyed. Throws Error (kUnsupported) if they
  // stay in memory.
  void Start(const std::string& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".tfrecord") shards_.push_back(entry.path());
    }
    Drop();
    for (const std::string& shard : shards_) {
      if (Resident(shard) < 0.5) continue;
      throw Error(ErrorKind::kUnsupported,
                  shard + " stays in memory: its file system does not drop pages", {},
                  "put the data on a disk");
    }
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        Drop();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }

 private:
  void Drop() const {
    for (const std::string& shard : shards_) {
      const int file = ::open(shard.c_str(), O_RDONLY | O_CLOEXEC);
      ::fdatasync(file);  // dirty pages are not dropped
      ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      ::close(file);
    }
  }

  static double Resident(const std::string& shard) {
    const MappedFile file(shard);
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident((file.bytes().size() + page - 1) / page);
    ::mincore(const_cast<uint8_t*>(file.bytes().data()), file.bytes().size(), resident.data());
    size_t count = 0;
    for (const unsigned char each : resident) count += each & 1U;
    return static_cast<double>(count) / static_cast<double>(resident.size());
  }

  std::vector<std::string> shards_;
  std::jthread thread_;
};

}  // namespace recpack::bench
