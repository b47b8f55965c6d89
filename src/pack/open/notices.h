// What a user should hear of a data set that was packed.
#pragma once

#include <string>
#include <vector>

#include "src/pack/item/source.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

// Sentences: what the source left out, and labels that seem to count from 1.
std::vector<std::string> PackNotices(const Source& source, const Manifest& manifest);

}  // namespace recpack::pack
