// Pictures of a data set to measure decoders with.
#pragma once

#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/loader/dataset.h"

namespace recpack::tool {

// JPEGs of up to 64 records all over the data set, the first one of each; records without are
// passed over. Throws Error as reading records does.
std::vector<ByteBuffer> SomeJpegs(const Dataset& dataset);

}  // namespace recpack::tool
