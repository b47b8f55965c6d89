// Files as a ceiling reads them.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "recpack/base/descriptor.h"
#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

inline constexpr size_t kDirectAlignment = 4096;  // of what direct access reads, and to where

struct FreeMemory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<void, FreeMemory>;

inline AlignedMemory AllocateAligned(size_t bytes) {
  return AlignedMemory(std::aligned_alloc(kDirectAlignment, bytes));
}

// Open for reading; of kDropped, with nothing of it left in the page cache. Throws Error: kIo,
// kNotFound; kUnsupported where its pages stay.
Descriptor OpenFor(FileAccess access, const std::string& path);

}  // namespace recpack::ceiling
