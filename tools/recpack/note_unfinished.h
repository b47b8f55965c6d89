// For commands that read what is there of a pack that was not finished.
#pragma once

#include <optional>

#include "recpack/dataset/layout.h"
#include "recpack/dataset/unfinished.h"

namespace recpack::tool {

// FindUnfinished(), with a note on stderr where shards of the pack are missing, or where that
// cannot be told.
std::optional<UnfinishedPack> NoteUnfinished(const Layout& layout);

}  // namespace recpack::tool
