// Finds records that a damaged shard holds more often than its index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "recpack/record/index.h"

namespace recpack::pack {

// Length and checksum that identify a record.
struct RecordMark {
  uint32_t length = 0;  // of the payload
  uint32_t crc = 0;     // masked CRC-32C of the payload
  bool operator==(const RecordMark&) const = default;
  bool operator<(const RecordMark& other) const {
    return std::tie(length, crc) < std::tie(other.length, other.crc);
  }
};

// Returns the numbers, rising, of the `found` records to leave out, so that each record of the
// index is there at most as often as in the index. Of equal records those are kept that fit the
// order of the index best (longest increasing subsequence). Records that the index does not know
// are kept. Empty if the entries have no CRCs. O(n log n).
std::vector<size_t> FindSurplus(std::span<const RecordMark> found, const ShardEntries& known);

}  // namespace recpack::pack
