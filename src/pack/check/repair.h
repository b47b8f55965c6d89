// Saves what is whole of damaged shards.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct RepairOptions {
  std::string out;                                    // a new or empty folder
  int threads = 0;                                    // 0: AvailableThreads()
  std::function<void(uint64_t bytes)> progress = {};  // bytes of shards done; one call at a time
  FileSystem* files = nullptr;  // damaged shards are read through it; null: PosixFiles()
};

// A stretch of a shard that is lost: a line of the ledger.
struct LostRecords {
  std::string path;
  uint64_t offset = 0;   // first lost byte of the shard's uncompressed bytes
  uint64_t end = 0;      // first byte that is good again
  uint64_t ordinal = 0;  // of the first lost record; provisional after a loss of unknown count
  std::optional<uint64_t> records;  // empty: unknown
  std::string reason;
};

struct RepairResult {
  uint64_t records = 0;  // saved
  uint64_t bytes = 0;    // of the new shards
  std::vector<LostRecords> lost;
};

// Name of the ledger in the output folder: one JSON object a line.
inline constexpr char kLedgerName[] = "repair-ledger.jsonl";

// Writes shards of the same names and compression with the intact records, an index, a manifest and
// the ledger; in the place of a shard that is missing or cannot be opened one without records. What
// the disk fails to read is lost from there to the shard's end, and the other shards are saved.
// Other files that the manifest lists are copied, or lost where they are damaged or cannot be read.
// That a pack was not finished is listed as a loss. The source is not touched. Throws Error:
// kInvalidArgument where `out` is not empty or two shards in several folders have one name, kIo for
// `out`, and where files may not be read for want of rights, by limits or the like: then there is
// no manifest, and nothing is told to be lost.
RepairResult Repair(const Layout& layout, const RepairOptions& options);

}  // namespace recpack::pack
