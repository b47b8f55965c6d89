// For commands that read what is there of a pack that was not finished.
#pragma once

#include <optional>

#include "src/pack/plan/unfinished.h"
#include "src/shards/layout/layout.h"

namespace recpack::tool {

// FindUnfinished(), with a note on stderr where shards of the pack are missing, or where that
// cannot be told.
std::optional<pack::UnfinishedPack> NoteUnfinished(const Layout& layout);

}  // namespace recpack::tool
