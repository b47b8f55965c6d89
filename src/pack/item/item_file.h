// Reads the whole file of one item with few system calls.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/base/bytes.h"
#include "src/shards/files/read_buffer.h"

namespace recpack::pack {

inline constexpr uint64_t kMaxItemBytes = (uint64_t{1} << 32) - (uint64_t{1} << 20);

// Throws Error: kCorrupt for an empty file, kUnsupported above kMaxItemBytes, the limit of a record
// with names beside the file's bytes.
void CheckItemSize(uint64_t size, const std::string& name);

// Reads `path`, relative to the folder descriptor `folder` (or AT_FDCWD), into `buffer` and returns
// a view of it. `size` is the file size when the source was opened; `name` is used in errors.
// Throws Error: kCorrupt if the file is empty or its size has changed, kUnsupported above 4 GiB
// (the limit of a record), kNotFound, kIo.
ByteView ReadItemFile(int folder, const std::string& path, uint64_t size, const std::string& name,
                      ReadBuffer& buffer);

}  // namespace recpack::pack
