#include "src/pack/sources/tar/tar_reader.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/field_values.h"
#include "src/remote/url/url.h"
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

  void Announce(size_t, uint64_t item) override {
    FindNeeded(item);
    for (size_t i = 0; i < needed_.size();) {
      const Run run = FindRun(i, item);
      files_.WillNeed(items_.samples.samples[item].volume, run.begin, run.end - run.begin);
      i = run.last;
    }
  }

 private:
  // Bytes that are read at once, and the index of the first member in needed_ behind them.
  struct Run {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t last = 0;
  };

  // Lists the members that are used.
  void FindNeeded(uint64_t item) {
    const auto members = items_.samples.Members(item);
    taken_.clear();
    needed_.clear();
    for (const TarField& field : items_.fields) {
      taken_.push_back(field.Find(members));
      if (taken_.back() != nullptr) needed_.push_back(taken_.back());
    }
    std::ranges::sort(needed_, {}, &TarSampleMember::offset);
  }

  // Reads the members that are used; neighbours at once.
  void Load(uint64_t item) {
    FindNeeded(item);
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

  // Finds what is read with needed_[i]: up to the first member that is not close.
  Run FindRun(size_t i, uint64_t item) const {
    Run run = {.begin = needed_[i]->offset, .end = needed_[i]->offset, .last = i};
    for (; run.last < needed_.size() &&
           needed_[run.last]->offset <= run.end + (run.last == i ? 0 : kMaxGap);
         ++run.last) {
      run.end = std::max(run.end, needed_[run.last]->offset + needed_[run.last]->size);
    }
    if (run.last == needed_.size()) run.end = EndOfSample(item, run.end);
    return run;
  }

  // In a store, up to where the next sample begins, so that ranges of neighbours can be joined.
  uint64_t EndOfSample(uint64_t item, uint64_t end) const {
    const TarSamples& all = items_.samples;
    const uint32_t volume = all.samples[item].volume;
    if (!items_.volumes[volume].object || item + 1 >= all.samples.size() ||
        all.samples[item + 1].volume != volume) {
      return end;
    }
    const uint64_t next = all.Members(item + 1).front().offset;
    return next >= end && next - end <= kMaxGap ? next : end;
  }

  // Reads needed_[i], ... up to the first that is not close; returns its index.
  size_t LoadRun(size_t i, uint64_t item, std::span<uint8_t> room, size_t& used) {
    const Run run = FindRun(i, item);
    const auto bytes = room.subspan(used, run.end - run.begin);
    files_.Read(items_.samples.samples[item].volume, run.begin, bytes);
    used += bytes.size();
    for (; i < run.last; ++i) {
      views_.push_back(bytes.subspan(needed_[i]->offset - run.begin, needed_[i]->size));
    }
    return run.last;
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
  const std::string& path = volumes[samples.samples[item].volume].path;
  return format("{}:{}", remote::WithoutSecrets(path), samples.Key(item));
}

std::unique_ptr<ItemReader> MakeTarReader(const TarItems& items) {
  return std::make_unique<TarReader>(items);
}

}  // namespace recpack::pack
