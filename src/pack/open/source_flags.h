// Which flags of `pack` are for which kinds of sources.
#pragma once

#include <string>

#include "src/pack/open/open_source.h"

namespace recpack::pack {

// Throws Error (kInvalidArgument) for a flag that was given and that sources of this kind do not
// know: it would be passed over in silence.
void RefuseForeignFlags(const SourceFlags& flags, const std::string& kind);

}  // namespace recpack::pack
