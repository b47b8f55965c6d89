// Unnamed temporary files for measurements, deleted with their objects.
#pragma once

#include <chrono>
#include <string>

#include "recpack/base/descriptor.h"

namespace recpack::ceiling {

class ScratchFile {
 public:
  // Writes random bytes to a file in `folder`: `bytes` in whole MiB, or fewer (at least 1 MiB) if
  // that takes longer than `time`. Synced to disk on return. Throws Error: kUnsupported if the file
  // system does not support unnamed files (O_TMPFILE), kIo if it is full or not writable.
  static ScratchFile OnDisk(const std::string& folder, uint64_t bytes,
                            std::chrono::nanoseconds time);

  // Makes a file of `bytes` bytes, in whole MiB, in memory. Throws Error (kIo).
  static ScratchFile InMemory(uint64_t bytes);

  // Makes a GZIP-compressed shard of `records` text-like records in memory.
  static ScratchFile CompressedShard(int records, size_t record_bytes);

  // Returns a path to open it by, valid while the object lives.
  std::string path() const;

 private:
  static ScratchFile Memory();  // empty
  explicit ScratchFile(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace recpack::ceiling
