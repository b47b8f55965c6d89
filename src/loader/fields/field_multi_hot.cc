// Field writer for classes that a record lists: zeros and ones.
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "recpack/loader/feature.h"
#include "src/base/format.h"
#include "src/loader/fields/field_writer.h"
#include "src/pack/item/field_values.h"

namespace recpack {
namespace {

constexpr size_t kMostQuoted = 80;  // of a record's value in a message [bytes]

std::string Quoted(std::string_view name) {
  if (!IsUtf8(name)) return format("{} bytes that are no UTF-8", name.size());
  if (name.size() <= kMostQuoted) return format("'{}'", name);
  size_t end = kMostQuoted;
  while ((name[end] & 0xc0) == 0x80) --end;  // not within a character
  return format("'{}...'", name.substr(0, end));
}

class MultiHotWriter final : public FieldWriter {
 public:
  explicit MultiHotWriter(const MultiHotField& field) : field_(field) {
    if (field_.feature.empty()) field_.feature = field_.name;
    CheckOptions();
    count_ = field_.classes.empty() ? field_.count : static_cast<uint32_t>(field_.classes.size());
    for (uint32_t i = 0; i < field_.classes.size(); ++i) AddClass(field_.classes[i], i);
  }

  std::vector<ArraySpec> Arrays() const override {
    return {MakeArray(field_.name, field_.type, {count_})};
  }

  void Write(const SampleRecord& sample, SampleTools&,
             std::span<uint8_t* const> out) const override {
    std::memset(out[0], 0, count_ * ElementBytes(field_.type));
    const FeatureView* const found = field_.missing_ok
                                         ? FindFeature(sample.example, field_.feature)
                                         : &RequireFeature(sample.example, field_.feature);
    if (found == nullptr || found->size() == 0) return;
    const FeatureView& feature = *found;
    if (feature.kind() == FeatureKind::kInt64) {
      for (const int64_t index : feature.int64_values()) SetIndex(index, out[0]);
    } else if (feature.kind() == FeatureKind::kBytes) {
      if (field_.classes.empty()) {
        Refuse(format("feature '{}' holds names, and the classes of field '{}' have none",
                      field_.feature, field_.name),
               "give the names of the classes instead of their number");
      }
      for (const ByteView value : feature.bytes_values()) SetNames(AsText(value), out[0]);
    } else {
      Refuse(format("feature '{}' is {}, field '{}' takes indices (int64) or names (bytes)",
                    field_.feature, FeatureKindName(feature.kind()), field_.name),
             "name another feature");
    }
  }

 private:
  void CheckOptions() const {
    if (field_.classes.empty() == (field_.count == 0)) {
      Refuse(format("field '{}' has {}", field_.name,
                    field_.count == 0 ? "no classes" : "both names and a number of classes"),
             "give the names of the classes, or how many there are");
    }
    if (field_.classes.size() > std::numeric_limits<uint32_t>::max()) {
      Refuse(format("field '{}' has {} classes", field_.name, field_.classes.size()), "give fewer");
    }
    if (field_.type != ElementType::kF32 && field_.type != ElementType::kU8) {
      Refuse(
          format("field '{}' has the unsupported type {}", field_.name, ElementName(field_.type)),
          "choose f32 or u8");
    }
    if (!field_.separator.empty() && field_.classes.empty()) {
      Refuse(format("field '{}' has a separator, and its classes have no names", field_.name),
             "give the names of the classes instead of their number");
    }
  }

  void AddClass(const std::string& name, uint32_t index) {
    const auto refuse = [&](const std::string& why, const std::string& advice) {
      Refuse(format("class {} of field '{}' {}", index, field_.name, why), advice);
    };
    if (name.empty()) refuse("has an empty name", "give each class a name");
    if (!field_.separator.empty() && pack::TrimSpace(name).size() < name.size()) {
      refuse(format("is {}, which no record can list: white space around names is dropped",
                    Quoted(name)),
             "give the name without it");
    }
    if (!field_.separator.empty() && name.find(field_.separator) != std::string::npos) {
      refuse(format("is {}, which contains the separator", Quoted(name)), "give another separator");
    }
    const auto [other, added] = index_of_.emplace(name, index);
    if (!added) {
      refuse(format("is {}, as is class {}", Quoted(name), other->second),
             "give each class a name of its own");
    }
  }

  void SetNames(std::string_view value, uint8_t* out) const {
    if (field_.separator.empty()) return SetName(value, out);
    for (;;) {
      const size_t end = value.find(field_.separator);
      SetName(pack::TrimSpace(value.substr(0, end)), out);
      if (end == std::string_view::npos) return;
      value.remove_prefix(end + field_.separator.size());
    }
  }

  void SetName(std::string_view name, uint8_t* out) const {
    if (name.empty()) return;
    const auto found = index_of_.find(name);
    if (found != index_of_.end()) return Set(found->second, out);
    if (field_.ignore_unknown) return;
    const char* const other_ways =
        field_.separator.empty() ? "say what separates the names of a value, or ignore unknown ones"
                                 : "or ignore unknown ones";
    Refuse(
        format("feature '{}' lists {}, not among the classes of field '{}'", field_.feature,
               Quoted(name), field_.name),
        format("add it to the classes, {}; they are: {}", other_ways, JoinNames(field_.classes)));
  }

  void SetIndex(int64_t index, uint8_t* out) const {
    if (index >= 0 && index < int64_t{count_}) return Set(static_cast<uint32_t>(index), out);
    if (field_.ignore_unknown) return;
    Refuse(format("feature '{}' lists class {}, field '{}' has 0 to {}", field_.feature, index,
                  field_.name, count_ - 1),
           "indices count from 0: give as many classes as there are, or ignore unknown ones");
  }

  void Set(uint32_t index, uint8_t* out) const {
    if (field_.type == ElementType::kU8) {
      out[index] = 1;
    } else {
      StoreLittleEndian(out + size_t{index} * sizeof(float), 1.0F);
    }
  }

  MultiHotField field_;
  uint32_t count_ = 0;
  std::unordered_map<std::string_view, uint32_t> index_of_;  // refers to `field_.classes`
};

}  // namespace

std::unique_ptr<FieldWriter> MakeMultiHotWriter(const MultiHotField& field) {
  return std::make_unique<MultiHotWriter>(field);
}

}  // namespace recpack
