// Collects JPEGs of a data set to measure decoders with.
#pragma once

#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/loader/dataset.h"

namespace recpack::tool {

// Returns the first JPEG of up to 64 records spread over the data set; skips records without one.
// Throws Error as reading records does.
std::vector<ByteBuffer> SomeJpegs(const Dataset& dataset);

}  // namespace recpack::tool
