#include "recpack/base/element_type.h"

namespace recpack {
namespace {

struct TypeEntry {
  const char* name;
  size_t bytes;
};

// In the order of ElementType.
constexpr TypeEntry kTypes[] = {{"u8", 1},   {"i32", 4}, {"i64", 8}, {"f16", 2},
                                {"bf16", 2}, {"f32", 4}, {"u64", 8}};

}  // namespace

size_t ElementBytes(ElementType type) noexcept { return kTypes[static_cast<size_t>(type)].bytes; }

const char* ElementName(ElementType type) noexcept {
  return kTypes[static_cast<size_t>(type)].name;
}

}  // namespace recpack
