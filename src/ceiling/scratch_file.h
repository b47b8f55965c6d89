// Files that only a measurement needs: without a name, and gone with their objects.
#pragma once

#include <chrono>
#include <string>

#include "recpack/base/descriptor.h"

namespace recpack::ceiling {

class ScratchFile {
 public:
  // Random bytes in `folder`, whole MiB up to `bytes`, fewer where writing them takes longer than
  // `time` (1 at least); on the disk when it returns. Throws Error: kUnsupported where the file
  // system has no files without names, kIo where it is full or may not be written.
  static ScratchFile OnDisk(const std::string& folder, uint64_t bytes,
                            std::chrono::nanoseconds time);

  // So many bytes, whole MiB, in memory. Throws Error (kIo).
  static ScratchFile InMemory(uint64_t bytes);

  // A shard of `records` records of text-like bytes, compressed with GZIP, in memory.
  static ScratchFile CompressedShard(int records, size_t record_bytes);

  // Opens it, as long as the object lives.
  std::string path() const;

 private:
  static ScratchFile Memory();  // empty
  explicit ScratchFile(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace recpack::ceiling
