#include "src/shards/index/pick.h"

#include "recpack/base/error.h"
#include "recpack/base/temporaries.h"
#include "recpack/record/random_access_reader.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/shards/index/fitting_index.h"
#include "src/shards/index/index_split.h"
#include "src/shards/index/indexed_shards.h"

namespace recpack {
namespace {

bool HasForeignStream(const Index& index) {
  for (size_t i = 0; i < index.shard_count(); ++i) {
    if (index.shard(i).compression != Compression::kNone && index.Entries(i).flush_points.empty()) {
      return true;
    }
  }
  return false;
}

void ReadThrough(const LayoutSplit& split, std::span<const uint64_t> ordinals,
                 const std::function<void(uint64_t, ByteView)>& visit) {
  uint64_t ordinal = 0;
  auto next = ordinals.begin();
  for (const auto& path : split.shards) {
    RecordReader reader(remote::DataFiles().OpenForReading(path), {});
    for (Record record; next != ordinals.end() && reader.Next(record); ++ordinal) {
      for (; next != ordinals.end() && *next == ordinal; ++next) visit(ordinal, record.payload);
    }
  }
}

}  // namespace

Index OpenSplitIndex(const LayoutSplit& split) {
  if (auto index = FittingIndex(split)) return std::move(*index);
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/split.recindex";
  KnownShards known(split.name);
  IndexSplit(
      split, path, {.verify = false}, [](uint64_t) {}, &known);
  return Index::Open(path);  // stays mapped after the file is deleted
}

void VisitRecords(const LayoutSplit& split, const Index& index, std::span<const uint64_t> ordinals,
                  const std::function<void(uint64_t, ByteView)>& visit) {
  if (!ordinals.empty() && ordinals.back() >= index.record_count()) {
    throw Error(ErrorKind::kInvalidArgument, format("there is no record {}: the split has {}",
                                                    ordinals.back(), index.record_count()));
  }
  if (HasForeignStream(index)) return ReadThrough(split, ordinals, visit);
  RandomAccessReader source(
      index, [&](size_t shard) { return split.shards[shard]; }, {}, remote::DataFiles());
  source.Prefetch(ordinals);
  for (const uint64_t ordinal : ordinals) visit(ordinal, source.Get(ordinal).payload());
}

}  // namespace recpack
