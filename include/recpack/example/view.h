// Zero-copy parser of tf.train.Example records (docs/format/example.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"

namespace recpack {

enum class FeatureKind : uint8_t { kNone, kBytes, kFloat, kInt64 };

// Returns "none", "bytes", "float" or "int64".
const char* FeatureKindName(FeatureKind kind);

// One feature of a parsed record. Valid until the next Parse() of its ExampleView; name and byte
// values only as long as the record's bytes, too.
class FeatureView {
 public:
  std::string_view name() const noexcept { return name_; }
  FeatureKind kind() const noexcept { return kind_; }

  // Returns the number of values.
  size_t size() const noexcept { return count_; }

  // Return the values; empty if the feature is of another kind. Numbers are decoded into memory of
  // the ExampleView.
  std::span<const ByteView> bytes_values() const noexcept {
    return Values<ByteView>(FeatureKind::kBytes);
  }
  std::span<const float> float_values() const noexcept {
    return Values<float>(FeatureKind::kFloat);
  }
  std::span<const int64_t> int64_values() const noexcept {
    return Values<int64_t>(FeatureKind::kInt64);
  }

 private:
  friend class ExampleView;

  template <typename T>
  std::span<const T> Values(FeatureKind kind) const noexcept {
    if (kind_ != kind) return {};
    return {static_cast<const T*>(values_), count_};
  }

  std::string_view name_;
  FeatureKind kind_ = FeatureKind::kNone;
  uint32_t entry_ = 0;  // position in the record; used while parsing
  size_t first_ = 0;    // index into the view's values of the kind; used while parsing
  size_t count_ = 0;
  const void* values_ = nullptr;
};

// Parses one record at a time. Reuse it: it keeps its memory. Not thread-safe.
class ExampleView {
 public:
  // Parses `record`, which must outlive the view's use and not change. Accepts what Protocol
  // Buffers accepts, with the same meaning: unknown fields are skipped, the last of several entries
  // with one name wins, split lists are joined. Throws Error (kCorrupt) with the byte offset in the
  // record; the view is empty then.
  void Parse(ByteView record);

  // Returns null if there is no such feature.
  const FeatureView* Find(std::string_view name) const noexcept;

  // Adds a second name for `feature`, which belongs to this view or is a copy of one that does.
  // Replaces a feature with that name. `name` must outlive the view. Invalidates pointers to
  // features.
  void Alias(const FeatureView& feature, std::string_view name);

  // Returns the mutable values of a feature of this view; empty if it is of another kind. The
  // record itself does not change.
  std::span<int64_t> MutableInt64(const FeatureView& feature) noexcept;

  // Iterate over the features in ascending order of their names.
  auto begin() const noexcept { return features_.begin(); }
  auto end() const noexcept { return features_.end(); }
  size_t size() const noexcept { return features_.size(); }

 private:
  class Parser;

  std::vector<FeatureView> features_;
  std::vector<ByteView> bytes_;
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
};

}  // namespace recpack
