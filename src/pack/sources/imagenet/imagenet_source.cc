#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/image_fields.h"
#include "src/pack/item/item_file.h"
#include "src/pack/sources/imagenet/imagenet.h"
#include "src/pack/sources/imagenet/imagenet_files.h"
#include "src/shards/files/folder_listing.h"
#include "src/shards/files/read_buffer.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kRecordOverhead = 200;  // approximate size of a record without the file [bytes]

ImagenetFiles FindOrThrow(const ImagenetOptions& options) {
  if (!PosixFiles().Exists(options.path)) {
    throw Error(ErrorKind::kNotFound, "no such file or folder", {.path = options.path});
  }
  ImagenetFiles files = FindImagenet(options.path);
  const bool any_validation = !files.validation_archive.empty() || !files.validation_folder.empty();
  if (files.train_archive.empty() && !any_validation) {
    throw Error(ErrorKind::kInvalidArgument,
                "is not ILSVRC2012_img_train.tar or ILSVRC2012_img_val.tar, and holds neither them "
                "nor ILSVRC2012_val_*.JPEG",
                {.path = options.path}, "class folders are packed as a folder");
  }
  return files;
}

ImagenetLabels ReadLabels(const ImagenetOptions& options, const ImagenetFiles& files) {
  if (!options.labels.empty()) return ReadImagenetLabelList(options.labels);
  if (!options.devkit.empty()) return ReadImagenetDevkit(options.devkit);
  if (!files.devkit.empty()) return ReadImagenetDevkit(files.devkit);
  throw Error(ErrorKind::kNotFound, "the labels of the validation images are missing",
              {.path = options.path},
              "put ILSVRC2012_devkit_t12.tar.gz beside the images, or name it with --devkit, or a "
              "file of ids with --labels");
}

class ImagenetSource final : public Source {
 public:
  explicit ImagenetSource(const ImagenetOptions& options)
      : ImagenetSource(options, FindOrThrow(options)) {}

  std::string kind() const override { return "imagenet"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return classes_; }
  bool sorted_by_class() const override { return true; }
  bool items_take_work() const override { return true; }

  std::string ItemName(size_t split, uint64_t item) const override {
    std::string name;
    FileName(split, Item(split, item), name);
    return name;
  }

  uint64_t ItemBytes(size_t split, uint64_t item) const override {
    return Item(split, item).size + kRecordOverhead;
  }

  std::string Fingerprint() const override;
  std::unique_ptr<ItemReader> NewReader() const override;

  std::vector<std::string> Notices() const override {
    std::vector<std::string> notices;
    counters_.AddNotices(notices);
    return notices;
  }

  const ImagenetItem& Item(size_t split, uint64_t item) const { return tables_[split].items[item]; }
  const ImagenetSplit& table(size_t split) const { return tables_[split]; }
  const TarVolumes& volumes() const { return volumes_; }
  const FolderTree* folder() const { return folder_ ? &*folder_ : nullptr; }
  const ImageOptions& image_options() const { return image_options_; }
  ImageCounters& counters() const { return counters_; }

  // Same as in the extracted data set: training images are in a folder of their class.
  void FileName(size_t split, const ImagenetItem& item, std::string& name) const {
    name.clear();
    if (splits_[split].name == "train") name = classes_[item.label] + "/";
    name += tables_[split].Name(item);
  }

 private:
  ImagenetSource(const ImagenetOptions& options, const ImagenetFiles& files)
      : image_options_(options.image), volumes_(ArchivePaths(files), options.work_folder) {
    ImageFields check(image_options_, counters_);
    if (!files.train_archive.empty()) {
      AddSplit("train", IndexImagenetTrain(volumes_, 0, options.threads, classes_));
    }
    if (!files.validation_archive.empty()) {
      AddSplit("validation", IndexImagenetValidation(volumes_, volumes_.size() - 1,
                                                     ReadLabels(options, files), classes_));
    }
    if (!files.validation_folder.empty()) {
      folder_.emplace(files.validation_folder);
      AddSplit("validation", ListImagenetValidation(files.validation_folder,
                                                    ReadLabels(options, files), classes_));
    }
  }

  static std::vector<std::string> ArchivePaths(const ImagenetFiles& files) {
    std::vector<std::string> archives;
    for (const std::string& path : {files.train_archive, files.validation_archive}) {
      if (!path.empty()) archives.push_back(path);
    }
    return archives;
  }

  void AddSplit(const char* name, ImagenetSplit table) {
    splits_.push_back({.name = name, .items = table.items.size()});
    tables_.push_back(std::move(table));
  }

  ImageOptions image_options_;
  TarVolumes volumes_;
  std::optional<FolderTree> folder_;
  std::vector<std::string> classes_;
  std::vector<SourceSplit> splits_;
  std::vector<ImagenetSplit> tables_;
  mutable ImageCounters counters_;
};

class ImagenetReader final : public ItemReader {
 public:
  explicit ImagenetReader(const ImagenetSource& source)
      : source_(source),
        archives_(source.volumes()),
        images_(source.image_options(), source.counters()) {}

  void Read(size_t split, uint64_t item, Sample& sample) override {
    const ImagenetItem& image = source_.Item(split, item);
    source_.FileName(split, image, name_);
    images_.Process(Load(split, image), name_).AddTo(sample.features);
    sample.label = image.label;
    sample.features.AddInt64(kImageClassLabel, image.label);
    sample.features.AddBytes(kImageClassText, AsBytes(source_.class_names()[image.label]));
    sample.features.AddBytes(kImageFilename, AsBytes(name_));
  }

 private:
  ByteView Load(size_t split, const ImagenetItem& image) {
    const size_t volume = source_.table(split).volume;
    if (volume == ImagenetSplit::kNoVolume) {
      const FolderTree& folder = *source_.folder();
      return ReadItemFile(folder.descriptor(), name_, image.size, folder.FullPath(name_), buffer_);
    }
    const auto room = buffer_.Room(image.size);
    archives_.Read(volume, image.offset, room);
    if (room.empty()) throw Error(ErrorKind::kCorrupt, "is empty", {.path = name_});
    return room;
  }

  const ImagenetSource& source_;
  TarVolumeReader archives_;
  ImageFields images_;
  ReadBuffer buffer_;
  std::string name_;
};

std::unique_ptr<ItemReader> ImagenetSource::NewReader() const {
  return std::make_unique<ImagenetReader>(*this);
}

std::string ImagenetSource::Fingerprint() const {
  Sha256 hash;
  for (size_t split = 0; split < tables_.size(); ++split) {
    hash.Update(AsBytes(format("{}\n{}\n", splits_[split].name, splits_[split].items)));
    hash.Update(AsBytes(tables_[split].names));
    for (const ImagenetItem& item : tables_[split].items) {
      const uint64_t numbers[] = {item.size, item.label};
      hash.Update({reinterpret_cast<const uint8_t*>(numbers), sizeof numbers});
    }
  }
  return Hex(hash.Finish());
}

}  // namespace

std::unique_ptr<Source> OpenImagenet(const ImagenetOptions& options) {
  return std::make_unique<ImagenetSource>(options);
}

bool LooksLikeImagenet(const std::string& path) {
  try {
    const ImagenetFiles files = FindImagenet(path);
    return !files.train_archive.empty() || !files.validation_archive.empty() ||
           !files.validation_folder.empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace recpack::pack
