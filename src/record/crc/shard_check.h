// The check value by which an index knows its shard, and its own entries of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/index.h"

namespace recpack {

// Bytes at the end of a shard that its check value covers: of an uncompressed shard the CRC of the
// last payload, of a compressed one the checksum of the stream.
inline constexpr size_t kTailBytes = 8;

// docs/format/index.md, "check". `tail`: the last bytes of the file, fewer than kTailBytes where it
// is shorter. Never 0.
uint32_t ShardCheck(std::span<const uint32_t> lengths, std::span<const FlushPoint> flush_points,
                    ByteView tail);

// The same where all `records` have one length.
uint32_t ShardCheck(uint64_t records, uint32_t stride, std::span<const FlushPoint> flush_points,
                    ByteView tail);

// The last bytes of a file of `size` bytes. Throws Error (kIo).
ByteBuffer ReadTail(const ReadableFile& file, uint64_t size);

}  // namespace recpack
