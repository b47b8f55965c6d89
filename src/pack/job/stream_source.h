// Source that describes records already written by PackStream.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

// Used for plan and manifest only; its items cannot be read.
class StreamSource final : public Source {
 public:
  static constexpr char kKind[] = "stream";

  StreamSource(std::vector<SourceSplit> splits, std::vector<std::string> class_names,
               std::string fingerprint)
      : splits_(std::move(splits)),
        class_names_(std::move(class_names)),
        fingerprint_(std::move(fingerprint)) {}

  std::string kind() const override { return kKind; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string ItemName(size_t split, uint64_t item) const override {
    return "record " + std::to_string(item) + " of " + splits_[split].name;
  }
  uint64_t ItemBytes(size_t, uint64_t) const override { return 0; }
  bool sorted_by_class() const override { return false; }
  std::string Fingerprint() const override { return fingerprint_; }
  std::unique_ptr<ItemReader> NewReader() const override {
    throw Error(ErrorKind::kUnsupported, "records of a stream can be read only once");
  }

 private:
  std::vector<SourceSplit> splits_;
  std::vector<std::string> class_names_;
  std::string fingerprint_;
};

}  // namespace recpack::pack
