// Compression types of TFRecord shards, as TensorFlow has them.
#pragma once

#include <cstdint>
#include <string_view>

namespace recpack {

enum class Compression : uint8_t { kNone, kGzip, kZlib };

// Returns "none", "gzip" or "zlib".
const char* CompressionName(Compression compression);

// Parses such a name, ignoring case; "" means none. Throws Error (kInvalidArgument) that lists the
// choices.
Compression ParseCompression(std::string_view name);

}  // namespace recpack
