// Inflates with ISA-L, with zlib as the fallback for irregular streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "recpack/record/compression.h"
#include "src/record/compression/byte_source.h"

namespace recpack {

using MakeSource = std::function<std::unique_ptr<ByteSource>()>;

// Inflates one stream at `offset`: in the format `wrapper`, or raw (kNone), as after a flush point.
// If the stream is damaged, truncated or followed by other data, reading continues, after the bytes
// already returned, with a source of the same bytes made by `exact`: so the faster ISA-L does not
// have to report what is wrong with a stream, or where.
std::unique_ptr<ByteSource> MakeFastInflateSource(const ReadableFile& file, uint64_t offset,
                                                  Compression wrapper, size_t read_bytes,
                                                  MakeSource exact);

}  // namespace recpack
