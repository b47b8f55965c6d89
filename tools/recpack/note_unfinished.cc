#include "tools/recpack/note_unfinished.h"

#include <cstdio>

#include "recpack/base/error.h"

namespace recpack::tool {

std::optional<UnfinishedPack> NoteUnfinished(const Layout& layout) {
  try {
    auto unfinished = FindUnfinished(layout);
    if (unfinished) {
      std::fprintf(stderr, "note: %s %s\n", unfinished->plan.c_str(), unfinished->Reason().c_str());
    }
    return unfinished;
  } catch (const Error& error) {  // what is there is read all the same
    std::fprintf(stderr, "note: it cannot be told whether the pack was finished: %s\n",
                 error.what());
    return {};
  }
}

}  // namespace recpack::tool
