// Types of array elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recpack {

enum class ElementType : uint8_t { kU8, kI32, kI64, kF16, kBf16, kF32, kU64 };
size_t ElementBytes(ElementType type) noexcept;
const char* ElementName(ElementType type) noexcept;  // "u8", "i32", "i64", "f16", "bf16", ...

}  // namespace recpack
