// What a batch is made of: each field becomes one array.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "recpack/loader/array_spec.h"
#include "recpack/loader/function_field.h"
#include "recpack/loader/image_field.h"

namespace recpack {

// Numbers of an int64 or float feature. Fixed lists have exactly `length` values; ragged ones at
// most, padded with `padding`, and an array NAME_length (i32) says how many there were.
struct NumbersField {
  std::string name;
  std::string feature;               // empty: as the name
  ValueType type = ValueType::kI64;  // kI64 or kI32 of int64 features, kF32 of float features
  uint32_t length = 1;               // 1 and not ragged: one value a sample, shape (batch)
  bool ragged = false;
  bool truncate = false;  // ragged: cut what is longer; off: an error
  double padding = 0;
};

// Bytes as they are: of exactly this shape, or ragged like numbers (text).
struct BytesField {
  std::string name;
  std::string feature;  // empty: as the name
  std::vector<uint32_t> shape;
  bool ragged = false;  // shape is one number, the most bytes
  bool truncate = false;
};

// The record's ordinal in the split, i64.
struct IdField {
  std::string name = "id";
};

using Field = std::variant<ImageField, NumbersField, BytesField, IdField, FunctionField>;

}  // namespace recpack
