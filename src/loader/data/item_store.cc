#include "src/loader/data/item_store.h"

#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

// Makes each item's record as packing would write it.
class ItemSampleSource final : public SampleSource {
 public:
  ItemSampleSource(std::shared_ptr<const pack::Source> items, size_t split)
      : items_(std::move(items)), split_(split), reader_(items_->NewReader()) {}

  std::unique_ptr<SampleSource> ForAnotherThread() const override {
    return std::make_unique<ItemSampleSource>(items_, split_);
  }
  bool InMemory(std::span<const uint64_t>) override { return !items_->announces_for_all(); }
  void Advise(std::span<const uint64_t> ids) override {
    if (!items_->announces_for_all()) return;
    for (const uint64_t id : ids) reader_->Announce(split_, id);
  }

  ByteView Read(uint64_t id, ByteBuffer& memory) override {
    const uint64_t items = items_->splits()[split_].items;
    if (id >= items) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("there is no sample {}, the split has {}", id, items));
    }
    item_.Clear();
    reader_->Read(split_, id, item_);
    if (item_.is_finished()) return item_.payload;
    const size_t bytes = item_.features.ByteSize();
    if (memory.size() < bytes) memory.resize(bytes);
    item_.features.SerializeTo(memory.data());
    return {memory.data(), bytes};
  }

 private:
  std::shared_ptr<const pack::Source> items_;
  size_t split_;
  std::unique_ptr<pack::ItemReader> reader_;
  pack::Sample item_;
};

class ItemStore final : public SampleStore {
 public:
  ItemStore(std::shared_ptr<const pack::Source> source, size_t split, std::string root)
      : source_(std::move(source)),
        split_(split),
        root_(std::move(root)),
        groups_(source_->Groups(split)) {
    for (uint64_t i = 0; i < samples(); ++i) bytes_ += source_->ItemBytes(split_, i);
    if (groups_.size() == 1) SplitInRuns();
  }

  uint64_t samples() const override { return source_->splits()[split_].items; }
  uint64_t bytes() const override { return bytes_; }

  std::unique_ptr<SampleSource> NewSource(const RandomAccessOptions&) const override {
    return std::make_unique<ItemSampleSource>(source_, split_);
  }

  Place FindPlace(uint64_t id) const override {
    return {.path = root_ + source_->ItemName(split_, id)};
  }

  std::vector<std::string> Notices() const override { return source_->Notices(); }

  size_t groups() const override { return groups_.size(); }

  std::string GroupName(size_t i) const override {
    const pack::ItemGroup& group = groups_[i];
    if (!in_runs_) return group.name;
    std::string first = source_->ItemName(split_, group.begin);
    if (group.end - group.begin == 1) return first;
    return format("{} to {}", first, source_->ItemName(split_, group.end - 1));
  }

  void DescribeGroup(size_t i, const std::function<void(const std::string&)>& add) const override {
    const pack::ItemGroup& group = groups_[i];
    add(format("{}\n{}\n", group.name, group.end - group.begin));
    std::string text;
    for (uint64_t item = group.begin; item < group.end; ++item) {
      text.clear();
      source_->DescribeItem(split_, item, text);
      add(text);
    }
  }

 private:
  // A source with a single group is divided into runs of items.
  void SplitInRuns() {
    constexpr uint64_t kRuns = 8;
    const pack::ItemGroup whole = groups_.front();
    groups_.clear();
    for (uint64_t i = 0; i < kRuns; ++i) {
      const uint64_t begin = whole.end * i / kRuns, end = whole.end * (i + 1) / kRuns;
      if (begin < end) groups_.push_back({.name = whole.name, .begin = begin, .end = end});
    }
    in_runs_ = true;
  }

  std::shared_ptr<const pack::Source> source_;
  size_t split_;
  std::string root_;
  std::vector<pack::ItemGroup> groups_;
  bool in_runs_ = false;
  uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<SampleStore> MakeItemStore(std::shared_ptr<const pack::Source> source, size_t split,
                                           std::string root) {
  return std::make_unique<ItemStore>(std::move(source), split, std::move(root));
}

}  // namespace recpack
