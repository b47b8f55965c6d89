#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/record/framing.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/pack/item/image_fields.h"
#include "src/pack/plan/unfinished.h"
#include "src/pack/sources/tfrecord/record_rebuild.h"
#include "src/pack/sources/tfrecord/record_shards.h"
#include "src/pack/sources/tfrecord/tfrecord.h"
#include "src/remote/url/url.h"
#include "src/shards/layout/layout.h"
#include "src/shards/layout/split_folders.h"
#include "src/shards/manifest/side_file.h"

namespace recpack::pack {
namespace {

class TfrecordSource final : public Source {
 public:
  explicit TfrecordSource(const TfrecordOptions& options)
      : TfrecordSource(options, FindFinishedLayout(options.path)) {}

  std::string kind() const override { return "tfrecord"; }
  const std::vector<SourceSplit>& splits() const override { return shards_.splits(); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  bool sorted_by_class() const override { return false; }
  bool items_take_work() const override {
    return options_.image.reads_pixels() || items_are_remote();
  }
  bool items_are_remote() const override { return remote::IsUrl(options_.path); }

  std::string ItemName(size_t split, uint64_t item) const override {
    const RecordPlace place = shards_.Find(split, item);
    return format("{} record {}", shards_.Shard(place).path, place.ordinal);
  }

  uint64_t ItemBytes(size_t split, uint64_t item) const override {
    const RecordPlace place = shards_.Find(split, item);
    return shards_.Shard(place).places.length(place.ordinal);
  }

  std::string Fingerprint() const override;
  std::unique_ptr<ItemReader> NewReader() const override;
  std::vector<std::string> Notices() const override;

  const TfrecordOptions& options() const { return options_; }
  const RecordShards& shards() const { return shards_; }
  ImageCounters& counters() const { return counters_; }
  std::vector<SideFile> SideFiles() const override;
  void CountOther() const { ++no_examples_; }

 private:
  TfrecordSource(const TfrecordOptions& options, const Layout& layout)
      : options_(options),
        shards_(layout, RecordFilter(options.filters),
                {.work_folder = options.work_folder,
                 .in_order = options.in_order,
                 .threads = options.threads}) {
    ImageFields check(options.image, counters_);
    notices_ = layout.notices;
    if (layout.manifest) {
      class_names_ = layout.manifest->class_names;
      files_ = layout.manifest->files;
      folder_ = layout.folder;
    }
    uint64_t items = 0;
    for (const SourceSplit& split : shards_.splits()) items += split.items;
    if (items > 0) return;
    throw Error(ErrorKind::kInvalidArgument,
                options.filters.empty() ? "has no records" : "has no record that passes",
                {.path = options.path});
  }

  TfrecordOptions options_;
  RecordShards shards_;
  std::vector<std::string> class_names_;
  std::vector<ManifestFile> files_;  // in folder_
  std::string folder_;
  std::vector<std::string> notices_;  // about the files' names
  mutable ImageCounters counters_;
  mutable std::atomic<uint64_t> no_examples_{0};
};

class TfrecordReader final : public ItemReader {
 public:
  explicit TfrecordReader(const TfrecordSource& source)
      : source_(source),
        records_(source.shards()),
        rebuilder_(source.options(), source.counters()),
        changes_(ChangesRecords(source.options())) {}

  void Read(size_t split, uint64_t item, Sample& sample) override {
    const RecordPlace place = source_.shards().Find(split, item);
    const ByteView payload = records_.Read(place);
    if (!changes_) {
      sample.payload = payload;
      sample.label = ReadLabel(payload);
      return;
    }
    const std::string name = source_.ItemName(split, item);
    try {
      example_.Parse(payload);
    } catch (const Error& error) {
      throw error.At({.path = name});
    }
    rebuilder_.Rebuild(example_, name, sample);
  }

  void Announce(size_t split, uint64_t item) override {
    if (!source_.items_are_remote()) return;
    try {
      records_.Announce(source_.shards().Find(split, item));
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): reading the record throws it again
    }
  }

 private:
  // Records that are not Examples are counted and passed on unchanged.
  int64_t ReadLabel(ByteView payload) {
    try {
      example_.Parse(payload);
    } catch (const Error&) {
      source_.CountOther();
      return -1;
    }
    const FeatureView* label = FindLabel(example_);
    return label != nullptr && label->size() == 1 ? label->int64_values()[0] : -1;
  }

  const TfrecordSource& source_;
  RecordShardReader records_;
  RecordRebuilder rebuilder_;
  ExampleView example_;
  bool changes_;
};

std::unique_ptr<ItemReader> TfrecordSource::NewReader() const {
  return std::make_unique<TfrecordReader>(*this);
}

std::string TfrecordSource::Fingerprint() const {
  Sha256 hash;
  for (size_t split = 0; split < splits().size(); ++split) {
    hash.Update(AsBytes(format("{}\n{}\n", splits()[split].name, splits()[split].items)));
    for (const RecordShard& shard : shards_.shards()[split]) {
      const std::string name = ShardName(shard.path);
      hash.Update(AsBytes(format("{}\n{}\n", name, shard.file_bytes)));
      for (uint64_t i = 0; i < shard.items(); ++i) {
        const uint64_t ordinal = shard.Ordinal(i);
        const uint64_t numbers[] = {ordinal, shard.places.length(ordinal)};
        hash.Update({reinterpret_cast<const uint8_t*>(numbers), sizeof numbers});
      }
    }
  }
  return Hex(hash.Finish());
}

std::vector<SideFile> TfrecordSource::SideFiles() const {
  std::vector<SideFile> files;
  for (const ManifestFile& file : files_) {
    files.push_back({file.file, std::string(AsText(ReadSideFile(folder_, file)))});
  }
  return files;
}

std::vector<std::string> TfrecordSource::Notices() const {
  std::vector<std::string> notices = notices_;
  if (no_examples_ > 0) {
    notices.push_back(format("{} records are not tf.train.Examples and were passed on unchanged",
                             no_examples_.load()));
  }
  counters_.AddNotices(notices);
  return notices;
}

// Other programs' files may be called .record, too; those of compressed shards need their reader.
bool BeginsAsShard(const std::string& path) {
  if (path.find(".tfrecord") != std::string::npos) return true;
  uint8_t header[kFrameHeaderBytes];
  if (PosixFiles().OpenForReading(path)->ReadAt(0, header) == sizeof header &&
      FrameHeaderHolds(header)) {
    return true;
  }
  RecordReader reader(PosixFiles().OpenForReading(path), {});
  Record first;
  return reader.Next(first);
}

}  // namespace

std::unique_ptr<Source> OpenTfrecord(const TfrecordOptions& options) {
  return std::make_unique<TfrecordSource>(options);
}

bool LooksLikeTfrecord(const std::string& path) {
  try {
    const Layout layout = FindLayout(path);
    if (layout.splits.empty() || layout.splits[0].shards.empty()) return false;
    return layout.manifest || BeginsAsShard(layout.splits[0].shards[0]);
  } catch (const std::exception&) {
    return false;
  }
}

std::optional<std::string> OneBasedLabelNotice(const std::map<int64_t, uint64_t>& class_counts) {
  if (class_counts.size() < 2 || class_counts.begin()->first != 1) return {};
  const int64_t last = class_counts.rbegin()->first;
  if (static_cast<uint64_t>(last) != class_counts.size()) return {};
  return format(
      "all labels are 1 to {}, but most trainers expect labels from 0; --label-offset 1 takes one "
      "off",
      last);
}

}  // namespace recpack::pack
