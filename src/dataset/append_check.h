// Whether a source fits the data set that it is to be appended to.
#pragma once

#include <string>

#include "recpack/dataset/manifest.h"
#include "recpack/dataset/source.h"

namespace recpack {

// Throws Error (kInvalidArgument), naming the folder `out`, where its labels, or what its side
// files say, would mean something else than those of the data set there.
void CheckAppend(const Source& source, const Manifest& base, const std::string& out);

}  // namespace recpack
