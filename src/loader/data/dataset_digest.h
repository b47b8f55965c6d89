// Digests of data sets: identify a data set without reading its records.
#pragma once

#include <string>

#include "src/loader/data/sample_store.h"

namespace recpack {

// A digest has hexadecimal digits for the whole, then some for each of its parts.
inline constexpr size_t kDigestDigits = 16, kDigestPartDigits = 4, kDigestParts = 8;

// Returns Dataset::digest(); the parts are eighths of the groups.
std::string MakeDigest(const SampleStore& store);

// Describes how `store`, whose digest is `own`, differs from the one with digest `other`; empty if
// it does not.
std::string DigestDifference(const SampleStore& store, const std::string& own,
                             const std::string& other);

}  // namespace recpack
