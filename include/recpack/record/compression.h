// How a shard's bytes are compressed: TensorFlow's three choices.
#pragma once

#include <cstdint>
#include <string_view>

namespace recpack {

enum class Compression : uint8_t { kNone, kGzip, kZlib };

// "none", "gzip", "zlib".
const char* CompressionName(Compression compression);

// Reads such a name in any case ("" is none); throws Error (kInvalidArgument) that lists the
// choices.
Compression ParseCompression(std::string_view name);

}  // namespace recpack
