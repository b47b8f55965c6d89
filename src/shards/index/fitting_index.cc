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

std::optional<Index> FindIndexAt(const std::string& path) {
  if (path.empty()) return {};
  const auto copy = remote::FindOptionalCopy(path);
  if (!copy) return {};
  try {
    return Index::Open(*copy);
  } catch (const Error&) {  // treat a damaged index as missing
    return {};
  }
}

std::optional<Index> FittingIndex(const LayoutSplit& split) {
  return FittingIndex(split, split.index);
}

std::optional<Index> FittingIndex(const LayoutSplit& split, const std::string& path) {
  auto index = FindIndexAt(path);
  if (!index) return {};
  try {
    if (Fits(*index, split)) return index;
  } catch (const Error&) {  // damaged
  }
  return {};
}

}  // namespace recpack
