// Takes compressed files apart as a stream.
#pragma once

#include <functional>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"

namespace recpack::pack {

// Whether the file begins as gzip, zstd, xz or bzip2 data.
bool IsCompressed(const ReadableFile& file);

// Gives all of its bytes, uncompressed, to `sink` piece by piece. Lengths and checksums are
// checked; gzip files may have several members. Throws Error (kCorrupt) with the path where the
// data is damaged or cut off, and what `sink` throws.
void Unpack(const ReadableFile& file, const std::function<void(ByteView)>& sink);

// Inflates one zlib stream (RFC 1950) that gives at most `max_bytes`. Throws Error (kCorrupt)
// without a path.
ByteBuffer InflateZlib(ByteView bytes, size_t max_bytes);

}  // namespace recpack::pack
