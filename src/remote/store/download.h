// Downloads a published file, continued where an earlier try ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace recpack::remote {

struct Download {
  std::string url;
  std::string sha256;  // of the file, 64 hexadecimal digits
};

// Downloads to `path`, unless the file is there. Bytes go to PATH.part, which a later call
// continues, and which gets its name once its SHA-256 is right. `progress`: called with the bytes
// so far and of the file. Safe between processes: one downloads, the others wait for it. Throws
// Error: kIo; kNotFound; kCorrupt if the SHA-256 is wrong, after the file was removed.
void DownloadFile(const Download& download, const std::string& path,
                  const std::function<void(uint64_t bytes, uint64_t total)>& progress = {});

}  // namespace recpack::remote
