// Compares the records saved from a shard with their number in its index or manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "recpack/record/index.h"
#include "src/pack/check/repair_shard.h"
#include "src/shards/layout/layout.h"

namespace recpack::pack {

// Length and checksum that identify a record.
struct RecordMark {
  uint32_t length = 0;  // of the payload
  uint32_t crc = 0;     // CRC-32C of the payload
  bool operator==(const RecordMark&) const = default;
};

// Position up to which a shard was read.
struct Reach {
  uint64_t offset = 0;   // after the last record or damage, in uncompressed bytes
  uint64_t ordinal = 0;  // of the record there
  std::string failure;   // read error that stopped it; empty: end of the shard
};

// Returns the expected number of records of the shard; nullopt if it is unknown, or if index and
// manifest disagree and the file size does not decide.
std::optional<uint64_t> ExpectedRecords(const ShardEntries* known,
                                        std::optional<ListedShard> listed, uint64_t bytes);

// Compares the saved records with the count in the index or manifest, to find missing or surplus
// records that left no visible damage.
void CompareWithCount(const std::string& path, uint64_t expected, size_t left_out,
                      const Reach& reach, std::span<const RecordMark> marks,
                      RepairedShard& repaired);

}  // namespace recpack::pack
