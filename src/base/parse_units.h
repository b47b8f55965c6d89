// Parses numbers, sizes and shares that people write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recpack {

// Parses all of `text` as a decimal number; nullopt if it has a sign, a fraction or a suffix, or
// exceeds 64 bits.
std::optional<uint64_t> WholeNumber(std::string_view text);

// Parses "100MB", "64MiB", "1G" or "4096". Throws Error (kInvalidArgument), which names the valid
// forms, for other texts and for less than a byte.
uint64_t ParseBytes(const std::string& text);

// Parses "0.1%" or "0.001" as a share of items. Same errors.
double ParseShare(const std::string& text);

}  // namespace recpack
