// Reads the file of one item whole, with few system calls.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/base/bytes.h"
#include "src/shards/files/read_buffer.h"

namespace recpack::pack {

// Reads `path`, relative to the folder of descriptor `folder` (AT_FDCWD: as usual), which had
// `size` bytes when the source was opened, and views it in `buffer`. `name` is what errors call it.
// Throws Error: kCorrupt where it is empty or its size is another one now, kUnsupported above 4 GiB
// (a record's limit), kNotFound, kIo.
ByteView ReadItemFile(int folder, const std::string& path, uint64_t size, const std::string& name,
                      ReadBuffer& buffer);

}  // namespace recpack::pack
