// The files behind a manifest's shards, where a damaged manifest names some of them wrongly.
#pragma once

#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack {

struct Misnamed {
  std::string listed;  // path as the manifest gives it
  std::string found;   // path of the file that it means
};

// Puts into the layout the files that are meant where the manifest names one that is not there, or
// one twice: the one that the index has in this place, else the only one beside that the manifest
// does not name and whose size is the one listed. What is not found is left as it was.
std::vector<Misnamed> FindMisnamedShards(Layout& layout);

}  // namespace recpack
