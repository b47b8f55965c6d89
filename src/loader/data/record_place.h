// Errors learn which record they are about.
#pragma once

#include <cstdint>

namespace recpack {

class Dataset;

// In a catch block: throws what was caught, with the record's place where it says none, itself as
// the nested exception. What is no Error is one of the caller's functions, and becomes
// kInvalidArgument.
[[noreturn]] void RethrowWithPlace(const Dataset& dataset, uint64_t id);

}  // namespace recpack
