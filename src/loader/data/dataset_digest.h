// Tells data sets apart without reading them.
#pragma once

#include <string>

#include "src/loader/data/sample_store.h"

namespace recpack {

// As Dataset::digest() has it: 16 hexadecimal digits for all of it, then 4 for each eighth of its
// groups.
std::string DigestOf(const SampleStore& store);

// What makes `store`, whose digest is `own`, another than the one that had `other`; empty: nothing.
std::string DigestDifference(const SampleStore& store, const std::string& own,
                             const std::string& other);

}  // namespace recpack
