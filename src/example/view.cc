#include "recpack/example/view.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/wire_reader.h"

namespace recpack {
namespace {

// Nesting depth of a field, which counts towards the limit on nested groups.
enum Depth { kInExample, kInFeatures, kInEntry, kInFeature, kInList };

}  // namespace

// Field numbers of tensorflow/core/example/{example,feature}.proto. A known number with another
// wire type is an unknown field, as in Protocol Buffers.
class ExampleView::Parser {
 public:
  Parser(ExampleView& view, const uint8_t* base) : view_(view), base_(base) {}

  void Example(ByteView bytes) {
    ForEachField(bytes, kInExample, [&](uint32_t tag, WireReader& reader) {
      if (tag != Tag(1, kLengthDelimited)) return false;
      Features(reader.ReadLengthDelimited());
      return true;
    });
  }

 private:
  template <typename OnField>
  void ForEachField(ByteView bytes, Depth depth, OnField on_field) {
    WireReader reader(base_, bytes);
    while (!reader.AtEnd()) {
      const uint32_t tag = reader.ReadTag();
      if (!on_field(tag, reader)) reader.Skip(tag, depth);
    }
  }

  void Features(ByteView bytes) {
    ForEachField(bytes, kInFeatures, [&](uint32_t tag, WireReader& reader) {
      if (tag != Tag(1, kLengthDelimited)) return false;
      MapEntry(reader.ReadLengthDelimited());
      return true;
    });
  }

  void MapEntry(ByteView bytes) {
    FeatureView feature;
    ForEachField(bytes, kInEntry, [&](uint32_t tag, WireReader& reader) {
      if (tag == Tag(1, kLengthDelimited)) {
        feature.name_ = AsText(reader.ReadLengthDelimited());
        if (!IsUtf8(feature.name_)) reader.Fail("a feature's name is not UTF-8");
        return true;
      }
      if (tag != Tag(2, kLengthDelimited)) return false;
      Feature(reader.ReadLengthDelimited(), feature);
      return true;
    });
    feature.entry_ = static_cast<uint32_t>(view_.features_.size());
    view_.features_.push_back(feature);
  }

  // A list of another kind replaces the previous values; one of the same kind is appended.
  void Start(FeatureView& feature, FeatureKind kind, size_t arena_size) {
    if (feature.kind_ == kind) return;
    feature.kind_ = kind;
    feature.first_ = arena_size;
    feature.count_ = 0;
  }

  void Feature(ByteView bytes, FeatureView& feature) {
    ForEachField(bytes, kInFeature, [&](uint32_t tag, WireReader& reader) {
      switch (tag) {
        case Tag(1, kLengthDelimited):
          Start(feature, FeatureKind::kBytes, view_.bytes_.size());
          BytesList(reader.ReadLengthDelimited());
          feature.count_ = view_.bytes_.size() - feature.first_;
          return true;
        case Tag(2, kLengthDelimited):
          Start(feature, FeatureKind::kFloat, view_.floats_.size());
          FloatList(reader.ReadLengthDelimited());
          feature.count_ = view_.floats_.size() - feature.first_;
          return true;
        case Tag(3, kLengthDelimited):
          Start(feature, FeatureKind::kInt64, view_.ints_.size());
          Int64List(reader.ReadLengthDelimited());
          feature.count_ = view_.ints_.size() - feature.first_;
          return true;
        default:
          return false;
      }
    });
  }

  void BytesList(ByteView bytes) {
    ForEachField(bytes, kInList, [&](uint32_t tag, WireReader& reader) {
      if (tag != Tag(1, kLengthDelimited)) return false;
      view_.bytes_.push_back(reader.ReadLengthDelimited());
      return true;
    });
  }

  void FloatList(ByteView bytes) {
    ForEachField(bytes, kInList, [&](uint32_t tag, WireReader& reader) {
      if (tag == Tag(1, kFixed32)) {
        view_.floats_.push_back(std::bit_cast<float>(reader.ReadFixed32()));
        return true;
      }
      if (tag != Tag(1, kLengthDelimited)) return false;
      const ByteView packed = reader.ReadLengthDelimited();
      if (packed.size() % sizeof(float) != 0) reader.Fail("a packed list of floats is cut off");
      const size_t before = view_.floats_.size();
      view_.floats_.resize(before + packed.size() / sizeof(float));
      if (!packed.empty()) std::memcpy(&view_.floats_[before], packed.data(), packed.size());
      return true;
    });
  }

  void Int64List(ByteView bytes) {
    ForEachField(bytes, kInList, [&](uint32_t tag, WireReader& reader) {
      if (tag == Tag(1, kVarint)) {
        view_.ints_.push_back(static_cast<int64_t>(reader.ReadVarint()));
        return true;
      }
      if (tag != Tag(1, kLengthDelimited)) return false;
      WireReader packed(base_, reader.ReadLengthDelimited());
      while (!packed.AtEnd()) view_.ints_.push_back(static_cast<int64_t>(packed.ReadVarint()));
      return true;
    });
  }

  ExampleView& view_;
  const uint8_t* base_;
};

const char* FeatureKindName(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kBytes:
      return "bytes";
    case FeatureKind::kFloat:
      return "float";
    case FeatureKind::kInt64:
      return "int64";
    default:
      return "none";
  }
}

void ExampleView::Parse(ByteView record) {
  features_.clear();
  bytes_.clear();
  floats_.clear();
  ints_.clear();
  try {
    Parser(*this, record.data()).Example(record);
  } catch (const Error& error) {
    features_.clear();  // do not expose a partly parsed record
    throw Error(error.kind(), "not a tf.train.Example: " + error.reason(), error.place());
  } catch (...) {
    features_.clear();
    throw;
  }

  const auto not_ascending = [](const FeatureView& a, const FeatureView& b) {
    return !(a.name() < b.name());
  };
  if (std::ranges::adjacent_find(features_, not_ascending) != features_.end()) {
    // Sorts in place, with the entry as tie-breaker, since a stable sort would allocate memory.
    std::ranges::sort(features_, [](const FeatureView& a, const FeatureView& b) {
      const int order = a.name_.compare(b.name_);
      return order == 0 ? a.entry_ < b.entry_ : order < 0;
    });
    // Keep the last one of equal names.
    size_t kept = 0;
    for (size_t i = 0; i < features_.size(); ++i) {
      if (i + 1 < features_.size() && features_[i].name_ == features_[i + 1].name_) continue;
      features_[kept++] = features_[i];
    }
    features_.resize(kept);
  }
  for (FeatureView& feature : features_) {
    if (feature.kind_ == FeatureKind::kBytes) feature.values_ = bytes_.data() + feature.first_;
    if (feature.kind_ == FeatureKind::kFloat) feature.values_ = floats_.data() + feature.first_;
    if (feature.kind_ == FeatureKind::kInt64) feature.values_ = ints_.data() + feature.first_;
  }
}

const FeatureView* ExampleView::Find(std::string_view name) const noexcept {
  const auto found = std::ranges::lower_bound(features_, name, {}, &FeatureView::name);
  return found != features_.end() && found->name() == name ? &*found : nullptr;
}

void ExampleView::Alias(const FeatureView& feature, std::string_view name) {
  FeatureView alias = feature;
  alias.name_ = name;
  const auto found = std::ranges::lower_bound(features_, name, {}, &FeatureView::name);
  if (found != features_.end() && found->name() == name) {
    *found = alias;
  } else {
    features_.insert(found, alias);
  }
}

std::span<int64_t> ExampleView::MutableInt64(const FeatureView& feature) noexcept {
  if (feature.kind() != FeatureKind::kInt64 || feature.size() == 0) return {};
  const auto first =
      static_cast<size_t>(static_cast<const int64_t*>(feature.values_) - ints_.data());
  return {ints_.data() + first, feature.size()};
}

}  // namespace recpack
