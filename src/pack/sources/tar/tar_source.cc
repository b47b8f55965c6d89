#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/pack/sources/tar/tar.h"
#include "src/pack/sources/tar/tar_paths.h"
#include "src/pack/sources/tar/tar_reader.h"
#include "src/remote/url/url.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kRecordOverhead = 40;   // per record, approximately
constexpr uint64_t kFeatureOverhead = 24;  // per feature, approximately
// Archives of an object store that are read at once to index them, each up to 20 MiB ahead.
constexpr int kObjectsAtOnce = 8;

class TarSource final : public Source {
 public:
  explicit TarSource(const TarOptions& options)
      : items_{options, {AllTarPaths(options), options.work_folder, options.unpack}} {
    ImageFields check(options.image, items_.counters);
    if (options.image.resize > 0 && options.fields.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "cannot tell which member is the image to resize",
                  {}, "name it in the fields: image=jpg");
    }
    IndexVolumes();
    splits_ = {{.name = options.split, .items = items_.samples.samples.size()}};
    items_.options.fields.empty() ? UseAll() : UseMapped();
  }

  std::string kind() const override { return "tar"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return no_names_; }
  bool sorted_by_class() const override { return false; }
  bool items_take_work() const override {
    return items_.options.image.reads_pixels() || items_are_remote();
  }
  bool items_are_remote() const override { return items_.volumes.are_remote(); }
  bool announces_for_all() const override { return items_are_remote(); }

  std::string ItemName(size_t, uint64_t item) const override { return items_.Name(item); }

  uint64_t ItemBytes(size_t, uint64_t item) const override {
    uint64_t bytes = kRecordOverhead + items_.samples.Key(item).size();
    const auto members = items_.samples.Members(item);
    for (const TarField& field : items_.fields) {
      if (const auto* member = field.Find(members)) bytes += member->size + kFeatureOverhead;
    }
    return bytes;
  }

  // Groups are the archives.
  std::vector<ItemGroup> Groups(size_t) const override {
    std::vector<ItemGroup> groups;
    uint32_t last = 0;
    for (uint64_t i = 0; i < items_.samples.samples.size(); ++i) {
      const uint32_t volume = items_.samples.samples[i].volume;
      if (groups.empty() || volume != last) {
        groups.push_back({.name = items_.volumes.Name(volume), .begin = i, .end = i});
      }
      groups.back().end = i + 1;
      last = volume;
    }
    return groups;
  }

  void DescribeItem(size_t, uint64_t item, std::string& text) const override {
    text += items_.samples.Key(item);
    for (const TarSampleMember& member : items_.samples.Members(item)) {
      text += format("\n{} {}", items_.samples.extensions.Text(member.extension), member.size);
    }
    text += '\n';
  }

  std::string Fingerprint() const override;
  std::unique_ptr<ItemReader> NewReader() const override { return MakeTarReader(items_); }
  std::vector<std::string> Notices() const override;

 private:
  void IndexVolumes() {
    std::vector<TarSamples> found(items_.volumes.size());
    const int threads = items_are_remote() ? kObjectsAtOnce : items_.options.threads;
    ParallelFor(items_.volumes.size(), threads, [&](size_t, size_t i) {
      const std::string name = remote::WithoutSecrets(items_.volumes[i].path);
      const auto add = [&](const TarMember& member) {
        found[i].Add(static_cast<uint32_t>(i), name, member);
      };
      found[i].links = items_.volumes.Index(i, add).links;
    });
    for (TarSamples& part : found) {
      items_.samples.Append(part);
      part = {};
    }
    if (items_.samples.samples.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "holds no samples", {.path = items_.options.path},
                  "names of members must have an extension");
    }
  }

  void UseAll() {
    for (uint32_t i = 0; i < items_.samples.extensions.size(); ++i) {
      const std::string& extension = items_.samples.extensions.Text(i);
      auto kind = TarField::Kind::kBytes;
      if (extension == kClassExtension) kind = TarField::Kind::kNumber;
      if (extension == "jpg" || extension == "jpeg" || extension == "png") {
        kind = TarField::Kind::kCheckedImage;
      }
      items_.fields.push_back({.kind = kind, .name = extension, .extensions = {i}});
    }
  }

  void UseMapped() {
    for (const FieldRule& rule : items_.options.fields) {
      TarField field = {.name = rule.target, .extensions = {}};
      for (const std::string& extension : RuleFields(rule)) {
        field.extensions.push_back(items_.samples.extensions.Number(extension));
        if (extension == kClassExtension) field.kind = TarField::Kind::kNumber;
      }
      if (rule.target == "image") field.kind = TarField::Kind::kImage;
      if (rule.target == "label") field.kind = TarField::Kind::kLabel;
      items_.fields.push_back(std::move(field));
    }
  }

  TarItems items_;
  std::vector<SourceSplit> splits_;
  std::vector<std::string> no_names_;
};

std::string TarSource::Fingerprint() const {
  Sha256 hash;
  for (size_t i = 0; i < items_.volumes.size(); ++i) {
    hash.Update(AsBytes(format("{}\n{}\n", items_.volumes.Name(i), items_.volumes[i].range.bytes)));
  }
  hash.Update(AsBytes(items_.samples.keys));
  for (uint32_t i = 0; i < items_.samples.extensions.size(); ++i) {
    hash.Update(AsBytes(items_.samples.extensions.Text(i) + '\n'));
  }
  for (const TarSampleMember& member : items_.samples.members) {
    const uint64_t numbers[] = {member.offset, member.size, member.extension};
    hash.Update({reinterpret_cast<const uint8_t*>(numbers), sizeof numbers});
  }
  return Hex(hash.Finish());
}

std::vector<std::string> TarSource::Notices() const {
  std::vector<std::string> notices;
  if (items_.samples.without_extension > 0) {
    notices.push_back(format("{} members without an extension, or named __*__, left out",
                             items_.samples.without_extension));
  }
  if (items_.samples.links > 0) {
    notices.push_back(format("{} links left out", items_.samples.links));
  }
  items_.counters.AddNotices(notices);
  return notices;
}

}  // namespace

std::unique_ptr<Source> OpenTar(const TarOptions& options) {
  return std::make_unique<TarSource>(options);
}

}  // namespace recpack::pack
