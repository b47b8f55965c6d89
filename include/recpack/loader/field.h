// Fields: each one describes an array of the batch.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "recpack/loader/array_spec.h"
#include "recpack/loader/audio_field.h"
#include "recpack/loader/function_field.h"
#include "recpack/loader/image_field.h"

namespace recpack {

// Numbers from an int64 or float feature. A fixed list has exactly `length` values. A ragged list
// has at most `length`, is filled up with `padding`, and gets an array NAME_length (i32) with the
// number of values.
struct NumbersField {
  std::string name;
  std::string feature;                   // empty: same as the name
  ElementType type = ElementType::kI64;  // kI64 or kI32 for int64 features, kF32 for float features
  uint32_t length = 1;                   // if 1 and not ragged, the shape is (batch)
  bool ragged = false;                   // up to `length` values
  bool truncate = false;  // ragged only: truncate longer lists; otherwise they are errors
  double padding = 0;
  // Ragged only. False: samples are padded to `length`, and NAME_length holds the numbers of
  // values. True: they lie one behind the other, without padding, and NAME_offsets says where
  // (ArrayRows).
  bool offsets = false;
};

// Bytes, copied unchanged: exactly of this shape, or ragged (text).
struct BytesField {
  std::string name;
  std::string feature;  // empty: same as the name
  std::vector<uint32_t> shape;
  bool ragged = false;  // shape has one dimension, the maximum length
  bool truncate = false;
  bool offsets = false;  // as in NumbersField
};

// Zeros and ones, one for each class: 1 for the classes that the record lists. It lists them as
// indices (an int64 feature), as names (values of bytes), or as names between separators (one value
// of bytes). An empty feature or an empty name lists none, and a class may be listed twice.
struct MultiHotField {
  std::string name;
  std::string feature;               // empty: same as the name
  std::vector<std::string> classes;  // names in the order of the array: none twice, none empty
  uint32_t count = 0;                // number of classes without names, which only indices list
  // Empty: each value is a name. Otherwise values are split at it, and white space around the names
  // is dropped.
  std::string separator;
  bool ignore_unknown = false;           // skip unknown names and indices out of range
  bool missing_ok = false;               // a record without the feature lists none
  ElementType type = ElementType::kF32;  // or kU8
};

// Ordinal of the record in the split, i64.
struct IdField {
  std::string name = "id";
};

using Field = std::variant<ImageField, NumbersField, BytesField, IdField, FunctionField,
                           MultiHotField, AudioField>;

}  // namespace recpack
