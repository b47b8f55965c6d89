// For commands that read what is there of a pack that was not finished.
#pragma once

#include <optional>

#include "src/shards/layout/layout.h"
#include "src/pack/plan/unfinished.h"

namespace recpack::tool {

// FindUnfinished(), with a note on stderr where shards of the pack are missing, or where that
// cannot be told.
std::optional<UnfinishedPack> NoteUnfinished(const Layout& layout);

}  // namespace recpack::tool
