// Saves the intact records of damaged shards.
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
  std::function<void(uint64_t bytes)> progress = {};  // bytes of shards done; never concurrent
  FileSystem* files = nullptr;  // used to read the damaged shards; nullptr: PosixFiles()
};

// A lost range of a shard; one line of the ledger.
struct LostRecords {
  std::string path;
  uint64_t offset = 0;   // first lost byte, in uncompressed bytes of the shard
  uint64_t end = 0;      // first intact byte after it
  uint64_t ordinal = 0;  // of the first lost record; provisional after a loss of unknown count
  std::optional<uint64_t> records;  // nullopt: unknown
  std::string reason;
};

struct RepairResult {
  uint64_t records = 0;  // saved
  uint64_t bytes = 0;    // of the new shards
  std::vector<LostRecords> lost;
};

// Name of the ledger in the output folder; it has one JSON object per line.
inline constexpr char kLedgerName[] = "repair-ledger.jsonl";

// Writes shards of the same names and compression with the intact records, an index, a manifest and
// the ledger. A missing or unreadable shard is replaced by one without records. After a read error
// of the disk the rest of that shard is lost; the other shards are saved. Other files listed in the
// manifest are copied, or lost if damaged or unreadable. An unfinished pack is listed as a loss,
// and so is a damaged manifest if the layout is that of FindDamagedLayout(). The source is not
// changed. Throws Error: kInvalidArgument if `out` is not empty or two shards in different folders
// have the same name; kIo for `out`, and if permissions or system limits prevent reading: then no
// manifest is written and nothing is reported as lost.
RepairResult Repair(const Layout& layout, const RepairOptions& options);

}  // namespace recpack::pack
