// Flush points of compressed shards whose index is lost (docs/format/compression.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/record/index.h"

namespace recpack {

// What a full flush ends with: an empty stored block (RFC 1951, 3.2.4).
inline constexpr uint8_t kFlushMark[4] = {0x00, 0x00, 0xff, 0xff};

// Offset behind the flush point that follows the header of our streams; 0 for those of others.
uint64_t FirstFlushPoint(const ReadableFile& file, Compression compression);

struct FlushedStream {
  std::vector<uint32_t> lengths;  // payload bytes of each record
  std::vector<FlushPoint> flush_points;
};

// A stream of ours, read once from its header to the end of its file; nothing where it is one of
// others or damaged anywhere, which who reads it in order tells apart. `verify`: check CRCs of
// payloads, too. Throws Error (kUnsupported) for a record that an index cannot hold.
//
// That its flush points are no look-alikes is shown, not guessed: each stretch between two of them
// is inflated with nothing of what stands before it, where a reference to that is an error.
std::optional<FlushedStream> ReadFlushedStream(const ReadableFile& file, Compression compression,
                                               bool verify);

}  // namespace recpack
