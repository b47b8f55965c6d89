#include "src/shards/index/pick.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/base/temporaries.h"
#include "recpack/record/random_access_reader.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/local_copy.h"
#include "src/remote/url/url.h"
#include "src/shards/index/fitting_index.h"
#include "src/shards/index/index_split.h"
#include "src/shards/index/indexed_shards.h"

namespace recpack {
namespace {

constexpr size_t kOpenedAhead = 64;  // objects

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

// Returns where the index of these versions of objects is kept, which have none beside them; empty
// if they are files, or if their versions are not known.
std::string PathOfKept(const LayoutSplit& split) {
  Sha256 name;
  size_t will_open = 0;
  for (size_t i = 0; i < split.shards.size(); ++i) {
    const std::string shard = split.shards[i];
    if (!remote::IsUrl(shard)) return {};
    for (; will_open < std::min(i + kOpenedAhead, split.shards.size()); ++will_open) {
      remote::WillOpen(split.shards[will_open]);
    }
    const auto object = remote::DataFiles().OpenForReading(shard);
    const std::string version = remote::ObjectVersion(*object);
    if (version.empty()) return {};
    name.Update(AsBytes(format("{}\n{}\n{}\n", object->path(), version, object->Size())));
  }
  return format("{}/{}.recindex", remote::CopiesFolder(), Hex(name.Finish()));
}

void Keep(const std::string& index, const std::string& path) noexcept {
  static std::mutex mutex;  // threads write to a temporary file of the same name
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return;
  try {
    std::filesystem::create_directories(remote::CopiesFolder());
    WriteFileAtomically(PosixFiles(), path, MappedFile(index).bytes(), false);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the next one makes it again
  }
}

}  // namespace

Index OpenSplitIndex(const LayoutSplit& split) {
  if (auto index = FittingIndex(split)) return std::move(*index);
  const std::string kept = split.shards.empty() ? "" : PathOfKept(split);
  if (!kept.empty()) {
    if (auto index = FittingIndex(split, kept)) return std::move(*index);
  }
  const ScratchFolder scratch;
  const std::string path = scratch / "split.recindex";
  KnownShards known(split.name);
  IndexSplit(
      split, path, {.verify = false}, [](uint64_t) {}, &known);
  // An index beside the shards may be made again: what it said is not kept.
  if (!kept.empty() && !known.found_any()) Keep(path, kept);
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
