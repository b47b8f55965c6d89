// Compares the records saved from a shard with their number in its index or manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "recpack/record/index.h"
#include "src/pack/check/repair_shard.h"
#include "src/pack/check/surplus_records.h"
#include "src/shards/layout/layout.h"

namespace recpack::pack {

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
// records that left no visible damage. `left_out`: records that were left out as surplus.
void CompareWithCount(const std::string& path, uint64_t expected, size_t left_out,
                      const Reach& reach, std::span<const RecordMark> marks,
                      RepairedShard& repaired);

}  // namespace recpack::pack
