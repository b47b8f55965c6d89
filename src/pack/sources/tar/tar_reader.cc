#include "src/pack/sources/tar/tar_reader.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/field_values.h"
#include "src/shards/files/read_buffer.h"

namespace recpack::pack {
namespace {

constexpr std::string_view kKeyFeature = "__key__";
// Members that are this close together are read at once.
constexpr uint64_t kMaxGap = 4096;
constexpr uint64_t kMaxSampleBytes = (uint64_t{1} << 32) - (uint64_t{1} << 20);

class TarReader final : public ItemReader {
 public:
  explicit TarReader(const TarItems& items) : items_(items), files_(items.volumes) {
    for (size_t i = 0; i < items.fields.size(); ++i) {
      images_.emplace_back(items.options.image, items.counters);
    }
  }

  void Read(size_t, uint64_t item, Sample& sample) override {
    Load(item);
    const auto key = items_.samples.Key(item);
    sample.features.AddBytes(kKeyFeature, AsBytes(key));
    for (size_t i = 0; i < items_.fields.size(); ++i) {
      const TarField& field = items_.fields[i];
      if (taken_[i] != nullptr) {
        Add(i, *taken_[i], items_.Name(item), sample);
      } else if (!items_.options.fields.empty()) {
        throw Error(ErrorKind::kNotFound, format("has no member for the field {}", field.name),
                    {.path = items_.Name(item)}, "map it to another extension");
      }
    }
  }

 private:
  // Reads the members that are used; neighbours at once.
  void Load(uint64_t item) {
    const auto members = items_.samples.Members(item);
    taken_.clear();
    needed_.clear();
    for (const TarField& field : items_.fields) {
      taken_.push_back(field.Find(members));
      if (taken_.back() != nullptr) needed_.push_back(taken_.back());
    }
    std::ranges::sort(needed_, {}, &TarSampleMember::offset);
    views_.clear();
    uint64_t room_bytes = 0;
    for (const TarSampleMember* member : needed_) room_bytes += member->size + kMaxGap;
    if (room_bytes > kMaxSampleBytes) {
      throw Error(ErrorKind::kUnsupported, "is larger than the limit of a record (4 GiB)",
                  {.path = items_.Name(item)});
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
    files_.Read(items_.samples.samples[item].volume, begin, run);
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
    const TarField& field = items_.fields[number];
    const ByteView bytes = View(member);
    switch (field.kind) {
      case TarField::Kind::kBytes:
        sample.features.AddBytes(field.name, bytes);
        return;
      case TarField::Kind::kNumber:
        return AddNumber(field.name, bytes, sample);
      case TarField::Kind::kImage:
        return Process(number, member, bytes, name).AddTo(sample.features);
      case TarField::Kind::kCheckedImage:
        sample.features.AddBytes(field.name, Process(number, member, bytes, name).bytes);
        return;
      case TarField::Kind::kLabel:
        sample.label = LabelIn(bytes, name);
        sample.features.AddInt64(kImageClassLabel, sample.label);
    }
  }

  ImageView Process(size_t number, const TarSampleMember& member, ByteView bytes,
                    const std::string& name) {
    return images_[number].Process(
        bytes, format("{}.{}", name, items_.samples.extensions.Text(member.extension)));
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

  const TarItems& items_;
  TarVolumeReader files_;
  std::vector<ImageFields> images_;  // one per field, since each owns the image that it rewrote
  ReadBuffer buffer_;
  std::vector<const TarSampleMember*> taken_;   // for each field; null: the sample has none
  std::vector<const TarSampleMember*> needed_;  // by offset
  std::vector<ByteView> views_;                 // of needed_
};

}  // namespace

const TarSampleMember* TarField::Find(std::span<const TarSampleMember> members) const {
  for (const uint32_t extension : extensions) {
    const auto found = std::ranges::find(members, extension, &TarSampleMember::extension);
    if (found != members.end()) return &*found;
  }
  return nullptr;
}

std::string TarItems::Name(uint64_t item) const {
  return format("{}:{}", volumes[samples.samples[item].volume].path, samples.Key(item));
}

std::unique_ptr<ItemReader> MakeTarReader(const TarItems& items) {
  return std::make_unique<TarReader>(items);
}

}  // namespace recpack::pack
