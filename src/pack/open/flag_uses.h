// Refuses flags of pack that have no effect on a kind of source.
#pragma once

#include <string>

#include "src/pack/open/open_source.h"

namespace recpack::pack {

// Throws Error (kInvalidArgument) for a flag that was given and that sources of this kind ignore.
void RefuseForeignFlags(const SourceFlags& flags, const std::string& kind);

}  // namespace recpack::pack
