// Field writers for numbers, bytes and the id.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "recpack/base/error.h"
#include "recpack/loader/feature.h"
#include "src/base/format.h"
#include "src/loader/batch/ragged_rows.h"
#include "src/loader/fields/field_writer.h"
#include "src/loader/fields/picture.h"

namespace recpack {
namespace {

// Returns how many of `count` values to copy. Throws if the field does not allow so many.
uint32_t Taken(const std::string& feature, size_t count, uint32_t most, bool ragged,
               bool truncate) {
  if (count == most || (ragged && (count < most || truncate))) {
    return static_cast<uint32_t>(std::min<size_t>(count, most));
  }
  Refuse(format("feature '{}' has {} values and the field takes {}{}", feature, count,
                ragged ? "at most " : "", most),
         ragged ? "make the field longer, or let it truncate" : "let the field be ragged");
}

// Adds what tells the numbers of values of a ragged array: offsets, or lengths of padded samples.
void AddCounts(std::vector<ArraySpec>& arrays, bool offsets) {
  ArraySpec& ragged = arrays.back();
  if (offsets) {
    ragged.rows = ArrayRows::kRagged;
    arrays.push_back(OffsetsOf(ragged));
  } else {
    arrays.push_back(MakeArray(ragged.name + "_length", ElementType::kI32, {}));
  }
}

void StoreCount(uint8_t* to, uint32_t count, bool offsets) {
  if (offsets) {
    StoreLittleEndian(to, int64_t{count});
  } else {
    StoreLittleEndian(to, static_cast<int32_t>(count));
  }
}

// Only what is ragged has offsets.
void CheckOffsets(const std::string& name, bool ragged, bool offsets) {
  if (offsets && !ragged) {
    Refuse(format("field '{}' has offsets and is not ragged", name), "let the field be ragged");
  }
}

// Tells whether the type can represent the number, for floats approximately.
bool Holds(ElementType type, double number) {
  if (type == ElementType::kF32) {
    return !std::isfinite(number) || std::abs(number) <= std::numeric_limits<float>::max();
  }
  const double end = std::ldexp(1.0, type == ElementType::kI32 ? 31 : 63);
  return number >= -end && number < end && number == std::trunc(number);
}

class NumbersWriter final : public FieldWriter {
 public:
  explicit NumbersWriter(const NumbersField& field) : field_(field) {
    if (field_.feature.empty()) field_.feature = field_.name;
    CheckOffsets(field_.name, field_.ragged, field_.offsets);
    if (field_.length == 0) Refuse(format("field '{}' has no values", field_.name), "length >= 1");
    if (field_.type != ElementType::kI64 && field_.type != ElementType::kI32 &&
        field_.type != ElementType::kF32) {
      Refuse(
          format("field '{}' has the unsupported type {}", field_.name, ElementName(field_.type)),
          "choose i64 or i32 for int64 features, f32 for float ones");
    }
    if (!Holds(field_.type, field_.padding)) {
      Refuse(format("field '{}' is padded with {}, which does not fit {}", field_.name,
                    field_.padding, ElementName(field_.type)),
             "choose a padding that its type can represent");
    }
  }

  std::vector<ArraySpec> Arrays() const override {
    std::vector<uint32_t> shape;
    if (field_.ragged || field_.length > 1) shape = {field_.length};
    std::vector<ArraySpec> arrays = {MakeArray(field_.name, field_.type, shape)};
    if (field_.ragged) AddCounts(arrays, field_.offsets);
    return arrays;
  }

  void Write(const SampleRecord& sample, SampleTools&,
             std::span<uint8_t* const> out) const override {
    const FeatureView& feature = RequireFeature(sample.example, field_.feature);
    const bool floats = field_.type == ElementType::kF32;
    if (feature.size() > 0 &&
        feature.kind() != (floats ? FeatureKind::kFloat : FeatureKind::kInt64)) {
      Refuse(format("feature '{}' is {}, the field wants {}", field_.feature,
                    FeatureKindName(feature.kind()), ElementName(field_.type)),
             "name another feature or another type");
    }
    const uint32_t count =
        Taken(field_.feature, feature.size(), field_.length, field_.ragged, field_.truncate);
    if (floats) {
      Copy<float>(feature.float_values().data(), count, out[0]);
    } else if (field_.type == ElementType::kI64) {
      Copy<int64_t>(feature.int64_values().data(), count, out[0]);
    } else {
      Copy<int32_t>(feature.int64_values().data(), count, out[0]);
    }
    if (field_.ragged) StoreCount(out[1], count, field_.offsets);
  }

 private:
  template <typename To, typename From>
  void Copy(const From* values, uint32_t count, uint8_t* out) const {
    for (uint32_t i = 0; i < (field_.offsets ? count : field_.length); ++i) {
      const To value = i < count ? static_cast<To>(values[i]) : static_cast<To>(field_.padding);
      if constexpr (!std::is_same_v<To, From>) {
        if (i < count && value != values[i]) {
          Refuse(format("feature '{}' holds {}, which does not fit i32", field_.feature, values[i]),
                 "take i64");
        }
      }
      StoreLittleEndian(out + i * sizeof(To), value);
    }
  }

  NumbersField field_;
};

class BytesWriter final : public FieldWriter {
 public:
  explicit BytesWriter(const BytesField& field) : field_(field) {
    if (field_.feature.empty()) field_.feature = field_.name;
    CheckOffsets(field_.name, field_.ragged, field_.offsets);
    if (field_.shape.empty() || std::ranges::find(field_.shape, 0u) != field_.shape.end()) {
      Refuse(format("field '{}' has no bytes", field_.name), "give its shape");
    }
    if (field_.ragged && field_.shape.size() != 1) {
      Refuse(format("field '{}' is ragged and has {} dimensions", field_.name, field_.shape.size()),
             "ragged bytes have one, the most there may be");
    }
  }

  std::vector<ArraySpec> Arrays() const override {
    std::vector<ArraySpec> arrays = {MakeArray(field_.name, ElementType::kU8, field_.shape)};
    if (field_.ragged) AddCounts(arrays, field_.offsets);
    return arrays;
  }

  void Write(const SampleRecord& sample, SampleTools&,
             std::span<uint8_t* const> out) const override {
    const FeatureView& feature = RequireFeature(sample.example, field_.feature);
    if (feature.kind() != FeatureKind::kBytes || feature.size() != 1) {
      Refuse(format("feature '{}' holds {} values of kind {}, the field wants one of bytes",
                    field_.feature, feature.size(), FeatureKindName(feature.kind())),
             "name another feature");
    }
    size_t bytes = 1;
    for (const uint32_t extent : field_.shape) bytes *= extent;
    const ByteView value = feature.bytes_values()[0];
    const uint32_t count = Taken(field_.feature, value.size(), static_cast<uint32_t>(bytes),
                                 field_.ragged, field_.truncate);
    if (count > 0) std::memcpy(out[0], value.data(), count);
    if (count < bytes && !field_.offsets) std::memset(out[0] + count, 0, bytes - count);
    if (field_.ragged) StoreCount(out[1], count, field_.offsets);
  }

 private:
  BytesField field_;
};

class IdWriter final : public FieldWriter {
 public:
  explicit IdWriter(const IdField& field) : name_(field.name) {}

  std::vector<ArraySpec> Arrays() const override {
    return {MakeArray(name_, ElementType::kI64, {})};
  }

  void Write(const SampleRecord& sample, SampleTools&,
             std::span<uint8_t* const> out) const override {
    StoreLittleEndian(out[0], static_cast<int64_t>(sample.id));
  }

 private:
  std::string name_;
};

}  // namespace

std::unique_ptr<FieldWriter> MakeNumbersWriter(const NumbersField& field) {
  return std::make_unique<NumbersWriter>(field);
}

std::unique_ptr<FieldWriter> MakeBytesWriter(const BytesField& field) {
  return std::make_unique<BytesWriter>(field);
}

std::unique_ptr<FieldWriter> MakeFieldWriter(const Field& field, const std::vector<Field>& fields) {
  struct Make {
    const std::vector<Field>& fields;
    std::unique_ptr<FieldWriter> operator()(const ImageField& f) {
      return MakeImageWriter(f, SharesPicture(f, fields));
    }
    std::unique_ptr<FieldWriter> operator()(const NumbersField& f) { return MakeNumbersWriter(f); }
    std::unique_ptr<FieldWriter> operator()(const BytesField& f) { return MakeBytesWriter(f); }
    std::unique_ptr<FieldWriter> operator()(const IdField& f) {
      return std::make_unique<IdWriter>(f);
    }
    std::unique_ptr<FieldWriter> operator()(const FunctionField& f) {
      return MakeFunctionWriter(f);
    }
    std::unique_ptr<FieldWriter> operator()(const MultiHotField& f) {
      return MakeMultiHotWriter(f);
    }
    std::unique_ptr<FieldWriter> operator()(const AudioField& f) { return MakeAudioWriter(f); }
  };
  return std::visit(Make{fields}, field);
}

}  // namespace recpack
