// Small cache of open files.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "recpack/base/file.h"

namespace recpack {

// Keeps the 16 files used last open. Not thread-safe: use one per reader.
class OpenFiles {
 public:
  // Returns the file identified by `number`, opening it if needed. Valid until 16 other files have
  // been used. Throws Error: kCorrupt if its size is no longer `size`, kNotFound, kIo.
  const ReadableFile& Get(size_t number, const std::string& path, uint64_t size);

 private:
  struct OpenFile {
    size_t number;
    std::unique_ptr<ReadableFile> file;
  };

  std::list<OpenFile> open_;  // most recently used first
};

// Throws Error (kCorrupt): the file changed while it was read.

[[noreturn]] void FailChanged(const std::string& path);

}  // namespace recpack
