// Streaming decompression of gzip, zstd, xz and bzip2 files.
#pragma once

#include <functional>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"

namespace recpack::pack {

// Tells whether the file begins with the magic bytes of gzip, zstd, xz or bzip2.
bool IsCompressed(const ReadableFile& file);

// Passes the decompressed content to `sink` piece by piece. Checks lengths and checksums; gzip
// files may have several members. Throws Error (kCorrupt) with the path if the data is damaged or
// truncated, and whatever `sink` throws.
void Unpack(const ReadableFile& file, const std::function<void(ByteView)>& sink);

// Inflates one zlib stream (RFC 1950) to at most `max_bytes`. Throws Error (kCorrupt) without a
// path.
ByteBuffer InflateZlib(ByteView bytes, size_t max_bytes);

}  // namespace recpack::pack
