// Checksum in the metadata of safetensors files that Recpack writes: SHA-256 of all bytes of the
// file, with the checksum's own digits as zeros.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recpack::train {

inline constexpr char kChecksumKey[] = "recpack.sha256";

// Placeholder while the checksum is computed.
inline constexpr char kNoChecksum[] =
    "0000000000000000000000000000000000000000000000000000000000000000";

// Replaces the checksum's digits in the head of a file (length and header).
void SetChecksum(std::string& head, std::string_view digits);

// Returns the checksum's digits and replaces them by zeros; nullopt if the head has none.
std::optional<std::string> TakeChecksum(std::string& head);

}  // namespace recpack::train
