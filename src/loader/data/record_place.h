// Adds the record's place to exceptions.
#pragma once

#include <cstdint>

namespace recpack {

class Dataset;

// Call in a catch block: rethrows the exception with the record's place if it has none, nested in
// the new one. An exception that is not an Error comes from a user function and becomes
// kInvalidArgument.
[[noreturn]] void RethrowWithPlace(const Dataset& dataset, uint64_t id);

}  // namespace recpack
