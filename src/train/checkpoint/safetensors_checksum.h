// The checksum that files of ours carry in their metadata: SHA-256 of all bytes of the file, with
// the checksum's own digits as zeros.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recpack::train {

inline constexpr char kChecksumKey[] = "recpack.sha256";

// What stands in its place while it is computed.
inline constexpr char kNoChecksum[] =
    "0000000000000000000000000000000000000000000000000000000000000000";

// Replaces its digits in the head of a file (length and header).
void SetChecksum(std::string& head, std::string_view digits);

// Its digits, which are then replaced by zeros; nothing where the head has none.
std::optional<std::string> TakeChecksum(std::string& head);

}  // namespace recpack::train
