// Source with generated items that can be told to fail.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

// Item i of a split has a feature "text" of i % 97 + 3 bytes and the label i % classes.
class FakeSource : public Source {
 public:
  explicit FakeSource(std::vector<SourceSplit> splits) : splits_(std::move(splits)) {}

  std::string kind() const override { return "fake"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return names; }
  std::string ItemName(size_t split, uint64_t item) const override {
    return splits_[split].name + "/" + std::to_string(item);
  }
  uint64_t ItemBytes(size_t, uint64_t item) const override { return item % 97 + 40; }
  bool sorted_by_class() const override { return true; }
  bool items_take_work() const override { return take_work; }
  std::string Fingerprint() const override {
    std::string text = salt;
    for (const auto& split : splits_) text += split.name + std::to_string(split.items);
    return text;
  }
  std::vector<SideFile> SideFiles() const override { return side_files; }
  std::string WhyNotAppended() const override { return why_not_appended; }
  std::unique_ptr<ItemReader> NewReader() const override { return std::make_unique<Reader>(*this); }

  // Called before each item is read; may throw.
  std::function<void(size_t split, uint64_t item)> before_read = {};
  std::string salt;
  bool take_work = false;
  std::vector<SideFile> side_files;
  std::string why_not_appended;
  std::vector<std::string> names = {"even", "odd"};

 private:
  class Reader final : public ItemReader {
   public:
    explicit Reader(const FakeSource& source) : source_(source) {}
    void Read(size_t split, uint64_t item, Sample& sample) override {
      if (source_.before_read) source_.before_read(split, item);
      text_ = source_.ItemName(split, item);
      text_.resize(item % 97 + 3, '.');
      sample.features.AddBytes("text", AsBytes(text_));
      sample.label = static_cast<int64_t>(item % 2);
      sample.features.AddInt64("label", sample.label);
    }

   private:
    const FakeSource& source_;
    std::string text_;
  };

  std::vector<SourceSplit> splits_;
};

}  // namespace recpack::pack
