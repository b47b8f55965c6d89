// A shard's uncompressed bytes in order: the file itself, or what it inflates to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "recpack/base/file.h"
#include "recpack/record/compression.h"

namespace recpack {

// Deflate makes at best 1032 bytes from one (258 bytes in 2 bits).
inline constexpr uint64_t kMostDeflated = 1032;

// One thread at a time. Does not own the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` and returns the bytes: fewer only at the end. Throws Error: kIo; kCorrupt where
  // the compressed stream is damaged or cut, once all bytes before the damage were handed out.
  virtual size_t Read(std::span<uint8_t> out) = 0;
};

// By the first bytes of the file. A file of raw frames that happen to begin like a gzip or zlib
// header is told by its length CRC, which then holds.
Compression DetectCompression(const ReadableFile& file);

std::unique_ptr<ByteSource> MakeByteSource(const ReadableFile& file, Compression compression);

// An uncompressed file from `offset` on, up to `end` or its own end.
std::unique_ptr<ByteSource> MakeByteSourceAt(const ReadableFile& file, uint64_t offset,
                                             uint64_t end = UINT64_MAX);

// Starts at a flush point: `file_offset` bytes into the compressed file, which is read by
// `read_bytes` at a time.
std::unique_ptr<ByteSource> MakeFlushPointSource(const ReadableFile& file, uint64_t file_offset,
                                                 size_t read_bytes = size_t{1} << 18);

}  // namespace recpack
