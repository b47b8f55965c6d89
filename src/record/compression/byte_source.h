// Sequential input of a shard's uncompressed bytes: the file itself, or its inflated contents.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "recpack/base/file.h"
#include "recpack/record/compression.h"

namespace recpack {

// Maximum compression ratio of deflate (258 bytes in 2 bits).
inline constexpr uint64_t kMostDeflated = 1032;

// Not thread-safe. Does not own the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` and returns the number of bytes; fewer than out.size() only at the end. Throws
  // Error: kIo; kCorrupt if the compressed stream is damaged or truncated, after all bytes before
  // the damage have been returned.
  virtual size_t Read(std::span<uint8_t> out) = 0;
};

// Detects the compression from the first bytes of a file. An uncompressed file that happens to
// begin like a gzip or zlib header is recognised by the CRC of its first length.
Compression DetectCompression(const ReadableFile& file);

std::unique_ptr<ByteSource> MakeByteSource(const ReadableFile& file, Compression compression);

// Reads an uncompressed file from `offset` to `end` or the end of the file.
std::unique_ptr<ByteSource> MakeByteSourceAt(const ReadableFile& file, uint64_t offset,
                                             uint64_t end = UINT64_MAX);

// Inflates from a flush point, `file_offset` bytes into the compressed file, with reads of
// `read_bytes`.
std::unique_ptr<ByteSource> MakeFlushPointSource(const ReadableFile& file, uint64_t file_offset,
                                                 size_t read_bytes = size_t{1} << 18);

}  // namespace recpack
