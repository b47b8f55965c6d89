#include "recpack/dataset/pick.h"

#include <algorithm>
#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/dataset/build_index.h"
#include "recpack/record/reader.h"
#include "recpack/record/source.h"
#include "src/base/format.h"
#include "src/dataset/fitting_index.h"
#include "src/dataset/scratch_folder.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

bool HasForeignStream(const Index& index) {
  for (size_t i = 0; i < index.shard_count(); ++i) {
    if (index.shard(i).compression != Compression::kNone && index.Entries(i).flush_points.empty()) {
      return true;
    }
  }
  return false;
}

// An index knows names only, and so the shards of one folder.
bool LieTogether(const LayoutSplit& split) {
  const fs::path folder = fs::path(split.shards.front()).parent_path();
  return std::ranges::all_of(
      split.shards, [&](const auto& path) { return fs::path(path).parent_path() == folder; });
}

void ReadThrough(const LayoutSplit& split, std::span<const uint64_t> ordinals,
                 const std::function<void(uint64_t, ByteView)>& visit) {
  uint64_t ordinal = 0;
  auto next = ordinals.begin();
  for (const auto& path : split.shards) {
    RecordReader reader(PosixFiles().OpenForReading(path), {});
    for (Record record; next != ordinals.end() && reader.Next(record); ++ordinal) {
      for (; next != ordinals.end() && *next == ordinal; ++next) visit(ordinal, record.payload);
    }
  }
}

}  // namespace

Index IndexOfSplit(const LayoutSplit& split) {
  if (auto index = FittingIndex(split)) return std::move(*index);
  const ScratchFolder scratch;
  const Layout alone{.splits = {{.name = "split", .shards = split.shards}}};
  const auto built = BuildIndexes(alone, {.out = scratch.path(), .verify = false});
  return Index::Open(built.at(0).path);  // stays mapped when its file is gone
}

void VisitRecords(const LayoutSplit& split, const Index& index, std::span<const uint64_t> ordinals,
                  const std::function<void(uint64_t, ByteView)>& visit) {
  if (!ordinals.empty() && ordinals.back() >= index.record_count()) {
    throw Error(ErrorKind::kInvalidArgument, format("there is no record {}: the split has {}",
                                                    ordinals.back(), index.record_count()));
  }
  if (HasForeignStream(index) || !LieTogether(split)) return ReadThrough(split, ordinals, visit);
  RecordSource source(index, fs::path(split.shards.front()).parent_path());
  source.Prefetch(ordinals);
  for (const uint64_t ordinal : ordinals) visit(ordinal, source.Get(ordinal).payload());
}

}  // namespace recpack
