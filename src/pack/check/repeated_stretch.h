// Finds the records of a shard that stand in it twice, because a stretch of it was written twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace recpack::pack {

// Tells one record from another.
struct RecordMark {
  uint32_t length = 0;  // of the payload
  uint32_t crc = 0;     // CRC-32C of the payload
  bool operator==(const RecordMark&) const = default;
};

// The first of `surplus` records in a row that equal, one by one, those right before them. Empty
// where there is no such row.
std::optional<size_t> FindRepeatedStretch(std::span<const RecordMark> records, size_t surplus);

}  // namespace recpack::pack
