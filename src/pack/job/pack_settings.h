// What the bytes of a packed data set depend on.
#pragma once

#include <map>
#include <string>

#include "src/pack/job/pack.h"

namespace recpack::pack {

// By option name, for plan and manifest: the caller's, and Pack's own. `kind` is the source's.
std::map<std::string, std::string> AllSettings(const std::string& kind, const PackOptions& options);

}  // namespace recpack::pack
