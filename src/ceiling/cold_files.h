// File access for read ceilings: aligned memory and cold files.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "recpack/base/descriptor.h"
#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

inline constexpr size_t kDirectAlignment = 4096;  // alignment of offsets and memory for O_DIRECT

struct FreeMemory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<void, FreeMemory>;

inline AlignedMemory AllocateAligned(size_t bytes) {
  return AlignedMemory(std::aligned_alloc(kDirectAlignment, bytes));
}

// Opens a file for reading; for kDropped, also drops it from the page cache. Throws Error: kIo,
// kNotFound; kUnsupported if its pages stay cached.
Descriptor OpenFor(FileAccess access, const std::string& path);

}  // namespace recpack::ceiling
