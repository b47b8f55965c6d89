// Types of array elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recpack {

// Named by kind and bits: unsigned and signed integers, IEEE 754 binary16 and binary32, bfloat16.
enum class ElementType : uint8_t { kU8, kI32, kI64, kF16, kBf16, kF32, kU64 };

// Size of one element [bytes].
size_t ElementBytes(ElementType type) noexcept;
const char* ElementName(ElementType type) noexcept;  // "u8", "i32", "i64", "f16", "bf16", ...

}  // namespace recpack
