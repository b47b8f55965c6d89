#include "src/loader/data/record_store.h"

#include <atomic>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/remote/url/url.h"
#include "src/shards/index/pick.h"

namespace recpack {
namespace {

// Shards in an object store, which are opened at once where their records are announced. Shared by
// the sources of all threads.
class FarShards {
 public:
  FarShards(Index index, std::shared_ptr<const NameList> shards)
      : index_(std::move(index)), shards_(std::move(shards)), told_(index_.shard_count()) {}

  void WillOpen(std::span<const uint64_t> ids) {
    for (const uint64_t id : ids) {
      const uint32_t shard = index_.Locate(id).shard;
      if (!told_[shard].exchange(true)) remote::WillOpen(std::string((*shards_)[shard]));
    }
  }

 private:
  const Index index_;
  const std::shared_ptr<const NameList> shards_;
  std::vector<std::atomic<bool>> told_;
};

class RecordSampleSource final : public SampleSource {
 public:
  RecordSampleSource(RandomAccessReader records, std::shared_ptr<FarShards> far)
      : records_(std::move(records)), far_(std::move(far)) {}

  std::unique_ptr<SampleSource> ForAnotherThread() const override {
    return std::make_unique<RecordSampleSource>(records_.ForAnotherThread(), far_);
  }
  bool InMemory(std::span<const uint64_t> ids) override {
    return !far_ && records_.InPageCache(ids);  // would open each shard, in turn
  }
  void WillOpen(std::span<const uint64_t> ids) override {
    if (far_) far_->WillOpen(ids);
  }
  void Advise(std::span<const uint64_t> ids) override {
    WillOpen(ids);
    records_.Advise(ids);
  }
  void Touch(uint64_t id) noexcept override { records_.Touch(id); }
  ByteView Read(uint64_t id, ByteBuffer& memory) override { return records_.Read(id, memory); }

 private:
  RandomAccessReader records_;
  const std::shared_ptr<FarShards> far_;  // null: the shards are on a disk
};

class RecordStore final : public SampleStore {
 public:
  RecordStore(const LayoutSplit& split, FileSystem& files)
      : files_(files),
        shards_(std::make_shared<const NameList>(split.shards)),
        index_(OpenSplitIndex(split)) {
    for (size_t i = 0; i < index_.shard_count(); ++i) bytes_ += index_.shard_bytes(i);
    RefuseForeignStreams();
  }

  uint64_t samples() const override { return index_.record_count(); }
  uint64_t bytes() const override { return bytes_; }

  std::unique_ptr<SampleSource> NewSource(const RandomAccessOptions& options) const override {
    const bool is_far = index_.shard_count() > 0 && remote::IsUrl((*shards_)[0]);
    return std::make_unique<RecordSampleSource>(
        RandomAccessReader(
            index_, [shards = shards_](size_t shard) { return (*shards)[shard]; }, options, files_),
        is_far ? std::make_shared<FarShards>(index_, shards_) : nullptr);
  }

  Place FindPlace(uint64_t id) const override {
    const RecordLocation location = index_.Locate(id);
    return {.path = remote::WithoutSecrets((*shards_)[location.shard]),
            .offset = location.offset,
            .ordinal = location.ordinal};
  }

  size_t groups() const override { return index_.shard_count(); }
  std::string GroupName(size_t shard) const override { return index_.shard(shard).name; }

  void DescribeGroup(size_t i, const std::function<void(const std::string&)>& add) const override {
    const ShardSummary shard = index_.shard(i);
    add(format("{}\n{}\n{}\n", shard.name, shard.file_bytes, shard.records));
  }

 private:
  void RefuseForeignStreams() const {
    for (size_t i = 0; i < index_.shard_count(); ++i) {
      const ShardSummary shard = index_.shard(i);
      if (shard.compression == Compression::kNone || shard.records == 0) continue;
      // Written by RecordWriter, like the others
      if (!index_.Entries(i).flush_points.empty()) return;
      throw Error(ErrorKind::kUnsupported,
                  "is compressed as one stream, which has no random access",
                  {.path = (*shards_)[i]}, "pack it again: recpack pack SRC OUT --from tfrecord");
    }
  }

  FileSystem& files_;
  std::shared_ptr<const NameList> shards_;  // paths
  Index index_;
  uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<SampleStore> OpenRecordStore(const LayoutSplit& split, FileSystem& files) {
  return std::make_unique<RecordStore>(split, files);
}

}  // namespace recpack
