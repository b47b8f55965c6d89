// Type and shape of an array in a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace recpack {

enum class ValueType : uint8_t { kU8, kI32, kI64, kF16, kBf16, kF32, kU64 };
size_t ValueBytes(ValueType type) noexcept;
const char* ValueTypeName(ValueType type);  // "u8", "i32", "i64", "f16", "bf16", "f32", "u64"

// An array that every batch contains. Its first dimension is the batch size. The declarer sets
// name, type and shape; the loader computes the rest.
struct ArraySpec {
  std::string name;
  ValueType type = ValueType::kU8;
  std::vector<uint32_t> shape = {};  // per sample; empty: a single value
  size_t sample_bytes = 0;
  size_t offset = 0;  // of the array in the slab [bytes]; a multiple of 64

  bool operator==(const ArraySpec&) const = default;
};

}  // namespace recpack
