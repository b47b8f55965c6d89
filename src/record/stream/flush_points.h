// Recovery of the flush points of compressed shards without an index (docs/format/compression.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/record/index.h"
#include "src/record/stream/frames.h"

namespace recpack {

// End of a full flush: an empty stored block (RFC 1951, 3.2.4).
inline constexpr uint8_t kFlushMark[4] = {0x00, 0x00, 0xff, 0xff};

// Returns the offset after the flush point that follows the header of streams of RecordWriter; 0
// for streams of other writers.
uint64_t FirstFlushPoint(const ReadableFile& file, Compression compression);

struct FlushedStream {
  FrameTable frames;
  std::vector<FlushPoint> flush_points;
};

// Reads a whole stream of RecordWriter. Returns nullopt if it is by another writer or damaged
// anywhere; a sequential reader can tell these apart. `verify`: check the CRCs of payloads, too.
// Throws Error (kUnsupported) for a record that is too long for an index.
//
// The flush points are verified: each segment between two of them is inflated without the data
// before it, so that a reference to that data is an error.
std::optional<FlushedStream> ReadFlushedStream(const ReadableFile& file, Compression compression,
                                               bool verify);

}  // namespace recpack
