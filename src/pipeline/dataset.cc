#include "recpack/pipeline/dataset.h"

#include <algorithm>
#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/dataset/layout.h"
#include "recpack/dataset/pick.h"
#include "src/base/format.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr char kTrain[] = "train";
constexpr size_t kWholeDigits = 16;
constexpr size_t kPartDigits = 4;
constexpr size_t kParts = 8;

LayoutSplit Choose(Layout& layout, const std::string& path, const std::string& wanted) {
  if (!wanted.empty()) return OnlySplit(std::move(layout), wanted).splits.front();
  if (layout.splits.size() == 1) return layout.splits.front();
  std::string names;
  for (const LayoutSplit& split : layout.splits) {
    if (split.name == kTrain) return split;
    names += (names.empty() ? "" : ", ") + split.name;
  }
  throw Error(ErrorKind::kInvalidArgument, "has several splits and none is called train",
              {.path = path}, "name one of: " + names);
}

// Random access works within one folder.
std::string FolderOf(const LayoutSplit& split, const std::string& path) {
  const fs::path folder = fs::path(split.shards.front()).parent_path();
  for (const std::string shard : split.shards) {
    if (fs::path(shard).parent_path() == folder) continue;
    throw Error(ErrorKind::kUnsupported, "the shards lie in several folders", {.path = path},
                "open each folder as a data set of its own, or link the shards into one");
  }
  return folder.empty() ? "." : folder.string();
}

void RefuseForeignStreams(const Index& index, const std::string& folder) {
  for (size_t i = 0; i < index.shard_count(); ++i) {
    const ShardSummary shard = index.shard(i);
    if (shard.compression == Compression::kNone || shard.records == 0) continue;
    if (!index.Entries(i).flush_points.empty()) return;  // ours, and so are the others
    throw Error(ErrorKind::kUnsupported, "is compressed as one stream, which has no random access",
                {.path = folder + "/" + shard.name},
                "pack it anew: recpack pack SRC OUT --from tfrecord");
  }
}

// The first of the shards that part `part` of the digest is about.
size_t PartBegin(size_t shards, size_t part) { return shards * part / kParts; }

std::string Digest(const Index& index) {
  std::string parts;
  Sha256 whole;
  for (size_t part = 0; part < kParts; ++part) {
    Sha256 own;
    for (size_t i = PartBegin(index.shard_count(), part);
         i < PartBegin(index.shard_count(), part + 1); ++i) {
      const ShardSummary shard = index.shard(i);
      const std::string line = format("{}\n{}\n{}\n", shard.name, shard.file_bytes, shard.records);
      whole.Update(AsBytes(line));
      own.Update(AsBytes(line));
    }
    parts += Hex(own.Finish()).substr(0, kPartDigits);
  }
  return Hex(whole.Finish()).substr(0, kWholeDigits) + parts;
}

}  // namespace

Dataset::Dataset(Index index, std::string folder)
    : index_(std::move(index)), folder_(std::move(folder)), digest_(Digest(index_)) {
  for (size_t i = 0; i < index_.shard_count(); ++i) bytes_ += index_.shard_bytes(i);
}

Dataset Dataset::Open(const std::string& path, const DatasetOptions& options) {
  Layout layout = FindLayout(path);
  std::vector<std::string> class_names;
  if (layout.manifest) class_names = layout.manifest->class_names;
  const LayoutSplit split = Choose(layout, path, options.split);
  const std::string folder = FolderOf(split, path);
  Dataset dataset(IndexOfSplit(split), folder);
  RefuseForeignStreams(dataset.index_, folder);
  if (dataset.records() == 0) {
    throw Error(ErrorKind::kInvalidArgument, format("the split '{}' has no records", split.name),
                {.path = path});
  }
  dataset.path_ = path;
  dataset.split_ = split.name;
  dataset.class_names_ = std::move(class_names);
  return dataset;
}

std::string Dataset::DifferenceFrom(const std::string& digest) const {
  if (digest == digest_) return {};
  if (digest.size() != digest_.size()) return "the digests are of different kinds";
  std::string names;
  for (size_t part = 0; part < kParts; ++part) {
    const size_t at = kWholeDigits + part * kPartDigits;
    if (digest.compare(at, kPartDigits, digest_, at, kPartDigits) == 0) continue;
    const size_t begin = PartBegin(index_.shard_count(), part);
    const size_t end = PartBegin(index_.shard_count(), part + 1);
    if (begin == end) continue;
    names += format("{}{}", names.empty() ? "" : ", ", index_.shard(begin).name);
    if (end - begin > 1) names += format(" to {}", index_.shard(end - 1).name);
  }
  if (names.empty()) return "the number of shards is another";
  return "names, sizes or record counts differ among " + names;
}

RecordSource Dataset::NewSource(const SourceOptions& options) const {
  return RecordSource(index_, folder_, options);
}

Place Dataset::PlaceOf(uint64_t ordinal) const {
  const RecordLocation location = index_.Locate(ordinal);
  return {.path = folder_ + "/" + index_.shard(location.shard).name,
          .offset = location.offset,
          .ordinal = location.ordinal};
}

}  // namespace recpack
