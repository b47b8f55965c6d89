// Whether a source fits the data set that it is to be appended to.
#pragma once

#include <string>

#include "src/pack/item/source.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

// Throws Error (kInvalidArgument), naming the folder `out`, where its labels, or what its side
// files say, would mean something else than those of the data set there.
void CheckAppend(const Source& source, const Manifest& base, const std::string& out);

}  // namespace recpack::pack
