// A few open files out of many.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "recpack/base/file.h"

namespace recpack {

// One a reader; one thread at a time.
class OpenFiles {
 public:
  // The file called `number` by the caller; it stays open while it is among the last 16 used.
  // Throws Error: kCorrupt where it has another size than `size` now, kNotFound, kIo.
  const ReadableFile& Get(size_t number, const std::string& path, uint64_t size);

 private:
  struct OpenFile {
    size_t number;
    std::unique_ptr<ReadableFile> file;
  };

  std::list<OpenFile> open_;  // the one used last comes first
};

[[noreturn]] void FailChanged(const std::string& path);

}  // namespace recpack
