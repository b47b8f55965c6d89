#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/field_values.h"
#include "src/pack/item/image_fields.h"
#include "src/pack/sources/tar/tar.h"
#include "src/pack/sources/tar/tar_samples.h"
#include "src/pack/sources/tar/tar_volumes.h"
#include "src/shards/files/path_pattern.h"
#include "src/shards/files/paths_once.h"
#include "src/shards/files/read_buffer.h"

namespace recpack::pack {
namespace {

constexpr std::string_view kKeyFeature = "__key__";
constexpr std::string_view kClassExtension = "cls";
constexpr uint64_t kRecordOverhead = 40;   // per record, approximately
constexpr uint64_t kFeatureOverhead = 24;  // per feature, approximately
// Members that are this close together are read at once.
constexpr uint64_t kMaxGap = 4096;
constexpr uint64_t kMaxSampleBytes = (uint64_t{1} << 32) - (uint64_t{1} << 20);

bool HasTarName(std::string_view name) {
  constexpr std::string_view kEndings[] = {".tar",     ".tar.gz", ".tgz",
                                           ".tar.zst", ".tar.xz", ".tar.bz2"};
  return std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); });
}

std::vector<std::string> TarPaths(const std::string& path) {
  std::vector<std::string> paths;
  for (const std::string& name : ExpandPathPattern(path)) {
    if (!IsFolder(name)) {
      paths.push_back(name);
    } else {
      std::ranges::move(FilesInFolder(name, HasTarName), std::back_inserter(paths));
    }
  }
  if (paths.empty()) throw Error(ErrorKind::kNotFound, "holds no tar archives", {.path = path});
  PathsOnce once;  // the parts of a pattern may overlap
  std::erase_if(paths, [&](const std::string& archive) { return !once.Add(archive); });
  return paths;
}

std::vector<std::string> AllTarPaths(const TarOptions& options) {
  std::vector<std::string> paths = TarPaths(options.path);
  for (const std::string& further : options.further_paths) {
    std::ranges::move(TarPaths(further), std::back_inserter(paths));
  }
  PathsOnce once;
  for (const std::string& path : paths) once.AddOrThrow(path, "archive");
  return paths;
}

// How members with some extension are packed; resolved once for all samples.
struct FieldUse {
  enum class Kind { kBytes, kNumber, kImage, kLabel, kCheckedImage } kind = Kind::kBytes;
  std::string name;                  // of the feature
  std::vector<uint32_t> extensions;  // the first that a sample has is used
};

class TarSource final : public Source {
 public:
  explicit TarSource(const TarOptions& options)
      : options_(options), volumes_(AllTarPaths(options), options.work_folder, options.unpack) {
    ImageFields check(options.image, counters_);
    if (options.image.resize > 0 && options.fields.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "cannot tell which member is the image to resize",
                  {}, "name it in the fields: image=jpg");
    }
    IndexVolumes();
    splits_ = {{.name = options.split, .items = samples_.samples.size()}};
    options_.fields.empty() ? UseAll() : UseMapped();
  }

  std::string kind() const override { return "tar"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return no_names_; }
  bool sorted_by_class() const override { return false; }
  bool items_take_work() const override { return options_.image.reads_pixels(); }

  std::string ItemName(size_t, uint64_t item) const override {
    return format("{}:{}", volumes_[samples_.samples[item].volume].path, samples_.Key(item));
  }

  uint64_t ItemBytes(size_t, uint64_t item) const override {
    uint64_t bytes = kRecordOverhead + samples_.Key(item).size();
    const auto members = samples_.Members(item);
    for (const FieldUse& use : uses_) {
      if (const auto* member = Find(use, members)) bytes += member->size + kFeatureOverhead;
    }
    return bytes;
  }

  // Groups are the archives.
  std::vector<ItemGroup> Groups(size_t) const override {
    std::vector<ItemGroup> groups;
    uint32_t last = 0;
    for (uint64_t i = 0; i < samples_.samples.size(); ++i) {
      const uint32_t volume = samples_.samples[i].volume;
      if (groups.empty() || volume != last) {
        groups.push_back({.name = volumes_.Name(volume), .begin = i, .end = i});
      }
      groups.back().end = i + 1;
      last = volume;
    }
    return groups;
  }

  void DescribeItem(size_t, uint64_t item, std::string& text) const override {
    text += samples_.Key(item);
    for (const TarSampleMember& member : samples_.Members(item)) {
      text += format("\n{} {}", samples_.extensions.Text(member.extension), member.size);
    }
    text += '\n';
  }

  std::string Fingerprint() const override;
  std::unique_ptr<ItemReader> NewReader() const override;
  std::vector<std::string> Notices() const override;

  // Returns the sample's member for a use, or null.
  static const TarSampleMember* Find(const FieldUse& use,
                                     std::span<const TarSampleMember> members) {
    for (const uint32_t extension : use.extensions) {
      const auto found = std::ranges::find(members, extension, &TarSampleMember::extension);
      if (found != members.end()) return &*found;
    }
    return nullptr;
  }

  const TarSamples& samples() const { return samples_; }
  const TarVolumes& volumes() const { return volumes_; }
  const std::vector<FieldUse>& uses() const { return uses_; }
  const ImageOptions& image_options() const { return options_.image; }
  bool mapped() const { return !options_.fields.empty(); }
  ImageCounters& counters() const { return counters_; }

 private:
  void IndexVolumes() {
    std::vector<TarSamples> found(volumes_.size());
    ParallelFor(volumes_.size(), options_.threads, [&](size_t, size_t i) {
      const auto& volume = volumes_[i];
      const auto add = [&](const TarMember& member) {
        found[i].Add(static_cast<uint32_t>(i), volume.path, member);
      };
      volumes_.Open(i, [&](const ReadableFile& file) {
        found[i].links = IndexTar(file, volume.range, volume.path, add).links;
      });
    });
    for (TarSamples& part : found) {
      samples_.Append(part);
      part = {};
    }
    if (samples_.samples.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "holds no samples", {.path = options_.path},
                  "names of members must have an extension");
    }
  }

  void UseAll() {
    for (uint32_t i = 0; i < samples_.extensions.size(); ++i) {
      const std::string& extension = samples_.extensions.Text(i);
      auto kind = FieldUse::Kind::kBytes;
      if (extension == kClassExtension) kind = FieldUse::Kind::kNumber;
      if (extension == "jpg" || extension == "jpeg" || extension == "png") {
        kind = FieldUse::Kind::kCheckedImage;
      }
      uses_.push_back({.kind = kind, .name = extension, .extensions = {i}});
    }
  }

  void UseMapped() {
    for (const FieldRule& rule : options_.fields) {
      FieldUse use = {.name = rule.target, .extensions = {}};
      for (const std::string& extension : FieldsOf(rule)) {
        use.extensions.push_back(samples_.extensions.Number(extension));
        if (extension == kClassExtension) use.kind = FieldUse::Kind::kNumber;
      }
      if (rule.target == "image") use.kind = FieldUse::Kind::kImage;
      if (rule.target == "label") use.kind = FieldUse::Kind::kLabel;
      uses_.push_back(std::move(use));
    }
  }

  TarOptions options_;
  TarVolumes volumes_;
  TarSamples samples_;
  std::vector<FieldUse> uses_;
  std::vector<SourceSplit> splits_;
  std::vector<std::string> no_names_;
  mutable ImageCounters counters_;
};

class TarReader final : public ItemReader {
 public:
  explicit TarReader(const TarSource& source) : source_(source), files_(source.volumes()) {
    for (size_t i = 0; i < source.uses().size(); ++i) {
      images_.emplace_back(source.image_options(), source.counters());
    }
  }

  void Read(size_t split, uint64_t item, Sample& sample) override {
    Load(item);
    const auto key = source_.samples().Key(item);
    sample.features.AddBytes(kKeyFeature, AsBytes(key));
    for (size_t i = 0; i < source_.uses().size(); ++i) {
      const FieldUse& use = source_.uses()[i];
      if (taken_[i] != nullptr) {
        Add(i, *taken_[i], source_.ItemName(split, item), sample);
      } else if (source_.mapped()) {
        throw Error(ErrorKind::kNotFound, format("has no member for the field {}", use.name),
                    {.path = source_.ItemName(split, item)}, "map it to another extension");
      }
    }
  }

 private:
  // Reads the members that are used; neighbours at once.
  void Load(uint64_t item) {
    const auto members = source_.samples().Members(item);
    taken_.clear();
    needed_.clear();
    for (const FieldUse& use : source_.uses()) {
      taken_.push_back(TarSource::Find(use, members));
      if (taken_.back() != nullptr) needed_.push_back(taken_.back());
    }
    std::ranges::sort(needed_, {}, &TarSampleMember::offset);
    views_.clear();
    uint64_t room_bytes = 0;
    for (const TarSampleMember* member : needed_) room_bytes += member->size + kMaxGap;
    if (room_bytes > kMaxSampleBytes) {
      throw Error(ErrorKind::kUnsupported, "is larger than the limit of a record (4 GiB)",
                  {.path = source_.ItemName(0, item)});
    }
    const auto room = buffer_.Room(room_bytes);
    size_t used = 0;
    for (size_t i = 0; i < needed_.size();) i = LoadRun(i, item, room, used);
  }

  // Reads needed_[i], ... up to the first that is not close; returns its index.
  size_t LoadRun(size_t i, uint64_t item, std::span<uint8_t> room, size_t& used) {
    const uint64_t begin = needed_[i]->offset;
    uint64_t end = begin;
    size_t last = i;
    for (; last < needed_.size() && needed_[last]->offset <= end + (last == i ? 0 : kMaxGap);
         ++last) {
      end = std::max(end, needed_[last]->offset + needed_[last]->size);
    }
    const auto run = room.subspan(used, end - begin);
    files_.Read(source_.samples().samples[item].volume, begin, run);
    used += run.size();
    for (; i < last; ++i) {
      views_.push_back(run.subspan(needed_[i]->offset - begin, needed_[i]->size));
    }
    return last;
  }

  ByteView View(const TarSampleMember& member) const {
    const auto found = std::ranges::find(needed_, &member);
    return views_[static_cast<size_t>(found - needed_.begin())];
  }

  void Add(size_t number, const TarSampleMember& member, const std::string& name, Sample& sample) {
    const FieldUse& use = source_.uses()[number];
    const ByteView bytes = View(member);
    switch (use.kind) {
      case FieldUse::Kind::kBytes:
        sample.features.AddBytes(use.name, bytes);
        return;
      case FieldUse::Kind::kNumber:
        return AddNumber(use.name, bytes, sample);
      case FieldUse::Kind::kImage:
        return Process(number, member, bytes, name).AddTo(sample.features);
      case FieldUse::Kind::kCheckedImage:
        sample.features.AddBytes(use.name, Process(number, member, bytes, name).bytes);
        return;
      case FieldUse::Kind::kLabel:
        sample.label = LabelIn(bytes, name);
        sample.features.AddInt64(kImageClassLabel, sample.label);
    }
  }

  ImageView Process(size_t number, const TarSampleMember& member, ByteView bytes,
                    const std::string& name) {
    return images_[number].Process(
        bytes, format("{}.{}", name, source_.samples().extensions.Text(member.extension)));
  }

  static void AddNumber(const std::string& feature, ByteView bytes, Sample& sample) {
    const auto number = ParseInt64(TrimSpace(AsText(bytes)));
    if (!number) {
      sample.features.AddBytes(feature, bytes);
      return;
    }
    sample.features.AddInt64(feature, *number);
    if (feature == kClassExtension) sample.label = *number;
  }

  static int64_t LabelIn(ByteView bytes, const std::string& name) {
    const auto label = ParseInt64(TrimSpace(AsText(bytes)));
    if (label) return *label;
    throw Error(ErrorKind::kCorrupt, "its label is not a whole number", {.path = name},
                "map `label` to a member that holds a number");
  }

  const TarSource& source_;
  TarVolumeReader files_;
  std::vector<ImageFields> images_;  // one per use, since each owns the image that it rewrote
  ReadBuffer buffer_;
  std::vector<const TarSampleMember*> taken_;   // for each use; null: the sample has none
  std::vector<const TarSampleMember*> needed_;  // by offset
  std::vector<ByteView> views_;                 // of needed_
};

std::unique_ptr<ItemReader> TarSource::NewReader() const {
  return std::make_unique<TarReader>(*this);
}

std::string TarSource::Fingerprint() const {
  Sha256 hash;
  for (size_t i = 0; i < volumes_.size(); ++i) {
    hash.Update(AsBytes(format("{}\n{}\n", volumes_.Name(i), volumes_[i].range.bytes)));
  }
  hash.Update(AsBytes(samples_.keys));
  for (uint32_t i = 0; i < samples_.extensions.size(); ++i) {
    hash.Update(AsBytes(samples_.extensions.Text(i) + '\n'));
  }
  for (const TarSampleMember& member : samples_.members) {
    const uint64_t numbers[] = {member.offset, member.size, member.extension};
    hash.Update({reinterpret_cast<const uint8_t*>(numbers), sizeof numbers});
  }
  return Hex(hash.Finish());
}

std::vector<std::string> TarSource::Notices() const {
  std::vector<std::string> notices;
  if (samples_.without_extension > 0) {
    notices.push_back(format("{} members without an extension, or named __*__, left out",
                             samples_.without_extension));
  }
  if (samples_.links > 0) notices.push_back(format("{} links left out", samples_.links));
  counters_.AddNotices(notices);
  return notices;
}

}  // namespace

std::unique_ptr<Source> OpenTar(const TarOptions& options) {
  return std::make_unique<TarSource>(options);
}

bool LooksLikeTar(const std::string& path) {
  try {
    return IsFolder(path) ? !FilesInFolder(path, HasTarName).empty() : HasTarName(path);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace recpack::pack
