#include "src/shards/index/fitting_index.h"

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/remote/store/local_copy.h"
#include "src/shards/layout/split_folders.h"

namespace recpack {
namespace {

bool Fits(const Index& index, const LayoutSplit& split) {
  if (index.shard_count() != split.shards.size()) return false;
  for (size_t i = 0; i < split.shards.size(); ++i) {
    const ShardSummary shard = index.shard(i);
    if (ShardName(split.shards[i]) != shard.name) return false;
    const auto listed = split.ListedAt(i);
    if (listed && *listed != ListedShard{.records = shard.records, .bytes = shard.file_bytes}) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Index> FittingIndex(const LayoutSplit& split) {
  if (split.index.empty()) return {};
  const auto path = remote::FindOptionalCopy(split.index);
  if (!path) return {};
  try {
    Index index = Index::Open(*path);
    if (Fits(index, split)) return index;
  } catch (const Error&) {  // treat a damaged index as missing
  }
  return {};
}

}  // namespace recpack
