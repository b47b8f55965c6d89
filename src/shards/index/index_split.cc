#include "src/shards/index/index_split.h"

#include <filesystem>
#include <optional>

#include "recpack/base/parallel.h"
#include "recpack/record/index.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/sequential_file.h"
#include "src/remote/store/upload.h"
#include "src/remote/url/url.h"
#include "src/shards/index/ordered_index.h"
#include "src/shards/layout/layout.h"
#include "src/shards/layout/split_folders.h"

namespace recpack {
namespace {

void WriteDaliIndex(const std::string& shard, const ShardEntries& entries, const std::string& out) {
  const std::filesystem::path folder = out.empty() ? FolderPath(shard) : out;
  const std::string path = folder / (entries.name + ".idx");
  const std::string text = DaliIndexText(entries);
  if (remote::IsUrl(path)) return remote::WriteObject(path, AsBytes(text));
  WriteFileAtomically(PosixFiles(), path, AsBytes(text));
}

// Objects are read through: a request for each header would take a round trip each.
ShardEntries Scan(const std::string& shard, bool verify) {
  const auto file = remote::DataFiles().OpenForReading(shard);
  if (!remote::IsUrl(shard)) return ScanShard(*file, ShardName(shard), verify);
  return ScanShard(remote::SequentialFile(*file), ShardName(shard), verify);
}

}  // namespace

BuiltIndex IndexSplit(const LayoutSplit& split, const std::string& path,
                      const BuildIndexOptions& options, const std::function<void(uint64_t)>& done,
                      KnownShards* known) {
  OrderedIndex index(PosixFiles(), path);
  ParallelFor(split.shards.size(), options.threads, [&](size_t, size_t i) {
    try {
      const std::string shard = split.shards[i];
      std::optional<ShardEntries> entries;
      if (known != nullptr) entries = known->Find(shard, split.ListedAt(i).has_value());
      if (!entries) entries = Scan(shard, options.verify);
      if (const auto listed = split.ListedAt(i)) {
        RefuseUnlisted(shard, {.records = entries->lengths.size(), .bytes = entries->file_bytes},
                       *listed);
      }
      index.Add(i, *entries);
      if (options.dali) WriteDaliIndex(shard, *entries, options.out);
      done(entries->file_bytes);
    } catch (...) {
      index.GiveUp();
      throw;
    }
  });
  index.Finish(true);
  return {.path = path, .shards = split.shards.size(), .records = Index::Open(path).record_count()};
}

}  // namespace recpack
