// Reads tf.train.Example from its wire format without copying (docs/format/example.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"

namespace recpack {

enum class FeatureKind : uint8_t { kNone, kBytes, kFloat, kInt64 };

// "none", "bytes", "float", "int64".
const char* FeatureKindName(FeatureKind kind);

// One feature of a parsed record. Valid until the next Parse() of the view it came from; its name
// and bytes as long as the record's bytes, too.
class FeatureView {
 public:
  std::string_view name() const noexcept { return name_; }
  FeatureKind kind() const noexcept { return kind_; }

  // Number of values.
  size_t size() const noexcept { return count_; }

  // The values; empty where the feature is of another kind. Numbers are decoded into the view's own
  // memory.
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
  uint32_t entry_ = 0;  // place in the record, while parsing
  size_t first_ = 0;    // into the view's values of the kind, while parsing
  size_t count_ = 0;
  const void* values_ = nullptr;
};

// Parses one record at a time; reuse it, it keeps its memory. One thread at a time.
class ExampleView {
 public:
  // Views `record`, which must stay as it is. What Protocol Buffers accepts is accepted and means
  // the same: unknown fields are skipped, the last of several entries with one name counts, lists
  // that come in pieces are joined. Throws Error (kCorrupt) with the byte offset in the record;
  // the view is empty then.
  void Parse(ByteView record);

  // Empty where there is no such feature.
  const FeatureView* Find(std::string_view name) const noexcept;

  // Lets `feature`, which is one of this view or a copy of one, be found as `name` too, instead of
  // one that is called so. `name` must live as long as the view. Other pointers to features become
  // invalid.
  void Alias(const FeatureView& feature, std::string_view name);

  // The values of a feature of this view, to be changed; empty where it is of another kind. The
  // record itself stays as it is.
  std::span<int64_t> MutableInt64(const FeatureView& feature) noexcept;

  // Features in ascending order of their names.
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
