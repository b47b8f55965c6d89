// Check value that an index stores for a shard and its entries (docs/format/index.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/index.h"

namespace recpack {

// Bytes at the end of a shard that its check value covers: they contain the CRC of the last payload
// of an uncompressed shard, or the checksum of a compressed stream.
inline constexpr size_t kTailBytes = 8;

// Computes the check value (docs/format/index.md, "check"); never 0. `tail`: the last kTailBytes of
// the file, or all if it is shorter.
uint32_t ShardCheck(std::span<const uint32_t> lengths, std::span<const uint32_t> crcs,
                    std::span<const FlushPoint> flush_points, ByteView tail);

// For a shard whose `records` all have the length `stride`.
uint32_t ShardCheck(uint64_t records, uint32_t stride, std::span<const uint32_t> crcs,
                    std::span<const FlushPoint> flush_points, ByteView tail);

// Reads the last kTailBytes of a file of `size` bytes. Throws Error (kIo).
ByteBuffer ReadTail(const ReadableFile& file, uint64_t size);

}  // namespace recpack
