// Inflates by ISA-L, and by zlib whatever is out of the ordinary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "recpack/record/compression.h"
#include "src/record/compression/byte_source.h"

namespace recpack {

using MakeSource = std::function<std::unique_ptr<ByteSource>()>;

// Reads one stream from `offset` on: of `wrapper`, or for kNone a raw one, as it stands behind a
// flush point. `exact` makes a source of the same bytes: it goes on in this one's place, behind the
// bytes that were handed out, where the stream is damaged, cut, or not the last thing in the file.
// So ISA-L, which is faster, need not say what is wrong with a stream, nor where.
std::unique_ptr<ByteSource> MakeFastInflateSource(const ReadableFile& file, uint64_t offset,
                                                  Compression wrapper, size_t read_bytes,
                                                  MakeSource exact);

}  // namespace recpack
