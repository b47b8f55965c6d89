// Flush points of compressed shards whose index is lost (docs/format/compression.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/record/index.h"

namespace recpack {

// What a full flush ends with: an empty stored block (RFC 1951, 3.2.4).
inline constexpr uint8_t kFlushMark[4] = {0x00, 0x00, 0xff, 0xff};

// Offset behind the flush point that follows the header of our streams; 0 for those of others.
uint64_t FirstFlushPoint(const ReadableFile& file, Compression compression);

// The flush points of a whole stream with records of these lengths; none for a stream of others.
// That they are no look-alikes is shown, not guessed: each stretch between two of them is inflated
// with nothing of what stands before it, where a reference to that is an error.
std::vector<FlushPoint> FindFlushPoints(const ReadableFile& file, Compression compression,
                                        std::span<const uint32_t> lengths);

}  // namespace recpack
