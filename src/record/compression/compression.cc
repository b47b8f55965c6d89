#include "recpack/record/compression.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

const char* CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZlib:
      return "zlib";
  }
  return "unknown";
}

Compression ParseCompression(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.empty() || lower == "none") return Compression::kNone;
  if (lower == "gzip") return Compression::kGzip;
  if (lower == "zlib") return Compression::kZlib;
  throw Error(ErrorKind::kInvalidArgument,
              format("unknown compression '{}'; choose none, gzip or zlib", name));
}

}  // namespace recpack
