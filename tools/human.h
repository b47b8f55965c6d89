// Numbers as people read and write them.
#pragma once

#include <cstdint>
#include <string>

namespace recpack::tool {

// "61.4 MB" (decimal units), "1,234,567".
std::string HumanBytes(uint64_t bytes);
std::string HumanCount(uint64_t count);

// Reads "100MB", "64MiB", "1G", "4096"; throws recpack::Error (kInvalidArgument), which says what
// is allowed, for anything else and for less than a byte.
uint64_t ParseBytes(const std::string& text);

// Reads "0.1%" or "0.001" as a share of items; the same errors.
double ParseShare(const std::string& text);

}  // namespace recpack::tool
