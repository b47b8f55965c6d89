#include "src/pipeline/record_store.h"

#include <filesystem>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/dataset/pick.h"
#include "src/base/format.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

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

class RecordSampleSource final : public SampleSource {
 public:
  explicit RecordSampleSource(RecordSource records) : records_(std::move(records)) {}

  bool InMemory(std::span<const uint64_t> ids) override { return records_.InPageCache(ids); }
  void Advise(std::span<const uint64_t> ids) override { records_.Advise(ids); }
  void Touch(uint64_t id) noexcept override { records_.Touch(id); }
  ByteView Read(uint64_t id, ByteBuffer& memory) override { return records_.Read(id, memory); }

 private:
  RecordSource records_;
};

class RecordStore final : public SampleStore {
 public:
  RecordStore(const LayoutSplit& split, const std::string& path, FileSystem& files)
      : files_(files), folder_(FolderOf(split, path)), index_(IndexOfSplit(split)) {
    for (size_t i = 0; i < index_.shard_count(); ++i) bytes_ += index_.shard_bytes(i);
    RefuseForeignStreams();
  }

  uint64_t samples() const override { return index_.record_count(); }
  uint64_t bytes() const override { return bytes_; }

  std::unique_ptr<SampleSource> NewSource(const SourceOptions& options) const override {
    return std::make_unique<RecordSampleSource>(RecordSource(index_, folder_, options, files_));
  }

  Place PlaceOf(uint64_t id) const override {
    const RecordLocation location = index_.Locate(id);
    return {.path = PathOf(location.shard), .offset = location.offset, .ordinal = location.ordinal};
  }

  size_t groups() const override { return index_.shard_count(); }
  std::string GroupName(size_t shard) const override { return index_.shard(shard).name; }

  void DescribeGroup(size_t i, const std::function<void(const std::string&)>& add) const override {
    const ShardSummary shard = index_.shard(i);
    add(format("{}\n{}\n{}\n", shard.name, shard.file_bytes, shard.records));
  }

 private:
  std::string PathOf(size_t shard) const { return folder_ + "/" + index_.shard(shard).name; }

  void RefuseForeignStreams() const {
    for (size_t i = 0; i < index_.shard_count(); ++i) {
      const ShardSummary shard = index_.shard(i);
      if (shard.compression == Compression::kNone || shard.records == 0) continue;
      if (!index_.Entries(i).flush_points.empty()) return;  // ours, and so are the others
      throw Error(ErrorKind::kUnsupported,
                  "is compressed as one stream, which has no random access", {.path = PathOf(i)},
                  "pack it anew: recpack pack SRC OUT --from tfrecord");
    }
  }

  FileSystem& files_;
  std::string folder_;
  Index index_;
  uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<SampleStore> OpenRecordStore(const LayoutSplit& split, const std::string& path,
                                             FileSystem& files) {
  return std::make_unique<RecordStore>(split, path, files);
}

}  // namespace recpack
