#include "recpack/example/builder.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/base/wire.h"

namespace recpack {
namespace {

// Field numbers of tensorflow/core/example/{example,feature}.proto.
constexpr uint8_t kExampleFeatures = Tag(1, kLengthDelimited);
constexpr uint8_t kFeaturesEntry = Tag(1, kLengthDelimited);
constexpr uint8_t kEntryKey = Tag(1, kLengthDelimited);
constexpr uint8_t kEntryValue = Tag(2, kLengthDelimited);
constexpr uint8_t kListValues = Tag(1, kLengthDelimited);  // bytes, or packed numbers

// Protocol Buffers limits messages to 31-bit sizes.
constexpr uint64_t kMaxMessageBytes = INT32_MAX;

uint8_t* WriteBytes(uint8_t* out, const void* from, size_t size) {
  if (size > 0) std::memcpy(out, from, size);
  return out + size;
}

}  // namespace

void ExampleBuilder::AddBytes(std::string_view name, ByteView value) {
  AddBytesList(name, {&value, 1});
}

void ExampleBuilder::AddBytesList(std::string_view name, std::span<const ByteView> values) {
  entries_.push_back({.name = name,
                      .kind = Kind::kBytes,
                      .first = static_cast<uint32_t>(bytes_.size()),
                      .count = static_cast<uint32_t>(values.size())});
  bytes_.insert(bytes_.end(), values.begin(), values.end());
}

void ExampleBuilder::AddInt64(std::string_view name, int64_t value) {
  AddInt64List(name, {&value, 1});
}

void ExampleBuilder::AddInt64List(std::string_view name, std::span<const int64_t> values) {
  entries_.push_back({.name = name,
                      .kind = Kind::kInt64,
                      .first = static_cast<uint32_t>(ints_.size()),
                      .count = static_cast<uint32_t>(values.size())});
  ints_.insert(ints_.end(), values.begin(), values.end());
}

void ExampleBuilder::AddFloat(std::string_view name, float value) {
  AddFloatList(name, {&value, 1});
}

void ExampleBuilder::AddFloatList(std::string_view name, std::span<const float> values) {
  entries_.push_back({.name = name,
                      .kind = Kind::kFloat,
                      .first = static_cast<uint32_t>(floats_.size()),
                      .count = static_cast<uint32_t>(values.size())});
  floats_.insert(floats_.end(), values.begin(), values.end());
}

void ExampleBuilder::Add(std::string_view name, const FeatureView& feature) {
  switch (feature.kind()) {
    case FeatureKind::kBytes:
      return AddBytesList(name, feature.bytes_values());
    case FeatureKind::kFloat:
      return AddFloatList(name, feature.float_values());
    case FeatureKind::kInt64:
      return AddInt64List(name, feature.int64_values());
    case FeatureKind::kNone:
      return AddNone(name);
  }
}

void ExampleBuilder::AddNone(std::string_view name) {
  entries_.push_back({.name = name, .kind = Kind::kNone});
}

void ExampleBuilder::Clear() noexcept {
  entries_.clear();
  bytes_.clear();
  floats_.clear();
  ints_.clear();
}

void ExampleBuilder::Measure(Entry& entry) const {
  uint64_t size = 0;
  if (entry.kind == Kind::kBytes) {
    for (uint32_t i = 0; i < entry.count; ++i) {
      size += LengthDelimitedBytes(bytes_[entry.first + i].size());
    }
  } else if (entry.count > 0) {
    uint64_t packed = uint64_t{entry.count} * sizeof(float);
    if (entry.kind == Kind::kInt64) {
      packed = 0;
      for (uint32_t i = 0; i < entry.count; ++i) {
        packed += VarintBytes(static_cast<uint64_t>(ints_[entry.first + i]));
      }
    }
    size = LengthDelimitedBytes(packed);
  }
  entry.values_bytes = size;
  entry.feature_bytes = entry.kind == Kind::kNone ? 0 : LengthDelimitedBytes(size);
  entry.entry_bytes =
      LengthDelimitedBytes(entry.name.size()) + LengthDelimitedBytes(entry.feature_bytes);
}

size_t ExampleBuilder::ByteSize() {
  const auto by_name = [](const Entry& a, const Entry& b) { return a.name < b.name; };
  if (!std::ranges::is_sorted(entries_, by_name)) std::ranges::sort(entries_, by_name);
  features_bytes_ = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i > 0 && entries_[i].name == entries_[i - 1].name) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("the feature '{}' was added twice", entries_[i].name));
    }
    if (!IsUtf8(entries_[i].name)) {
      throw Error(ErrorKind::kInvalidArgument,
                  "the name of a feature is not UTF-8, which parsers refuse");
    }
    Measure(entries_[i]);
    features_bytes_ += LengthDelimitedBytes(entries_[i].entry_bytes);
  }
  const uint64_t size = LengthDelimitedBytes(features_bytes_);
  if (size > kMaxMessageBytes) {
    throw Error(ErrorKind::kUnsupported,
                format("an example of {} bytes is longer than 2 GiB, the limit of parsers", size),
                {}, "split it up");
  }
  return size;
}

uint8_t* ExampleBuilder::WriteValues(const Entry& entry, uint8_t* out) const {
  if (entry.kind == Kind::kBytes) {
    for (uint32_t i = 0; i < entry.count; ++i) {
      const ByteView value = bytes_[entry.first + i];
      out = WriteLengthHeader(out, kListValues, value.size());
      out = WriteBytes(out, value.data(), value.size());
    }
    return out;
  }
  if (entry.count == 0) return out;
  if (entry.kind == Kind::kFloat) {
    const size_t size = entry.count * sizeof(float);
    out = WriteLengthHeader(out, kListValues, size);
    return WriteBytes(out, floats_.data() + entry.first, size);
  }
  const size_t packed = entry.values_bytes;
  // values_bytes = tag + varint(length) + length: find the length by trying the shortest header
  // first.
  size_t length = packed - 2;
  while (LengthDelimitedBytes(length) > packed) --length;
  out = WriteLengthHeader(out, kListValues, length);
  for (uint32_t i = 0; i < entry.count; ++i) {
    out = WriteVarint(out, static_cast<uint64_t>(ints_[entry.first + i]));
  }
  return out;
}

uint8_t* ExampleBuilder::SerializeTo(uint8_t* out) const {
  out = WriteLengthHeader(out, kExampleFeatures, features_bytes_);
  for (const Entry& entry : entries_) {
    out = WriteLengthHeader(out, kFeaturesEntry, entry.entry_bytes);
    out = WriteLengthHeader(out, kEntryKey, entry.name.size());
    out = WriteBytes(out, entry.name.data(), entry.name.size());
    out = WriteLengthHeader(out, kEntryValue, entry.feature_bytes);
    if (entry.kind == Kind::kNone) continue;
    // Fields of the oneof: bytes_list = 1, float_list = 2, int64_list = 3.
    const uint32_t field = static_cast<uint32_t>(entry.kind) + 1;
    out = WriteLengthHeader(out, Tag(field, kLengthDelimited), entry.values_bytes);
    out = WriteValues(entry, out);
  }
  return out;
}

}  // namespace recpack
