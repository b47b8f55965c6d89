// Finds the tar archives that a source names: files, folders of archives, patterns.
#pragma once

#include <string>
#include <vector>

#include "src/pack/sources/tar/tar.h"

namespace recpack::pack {

// The archives of TarOptions::path, then those of `further_paths`. Throws Error: kNotFound,
// kInvalidArgument if an archive occurs twice.
std::vector<std::string> AllTarPaths(const TarOptions& options);

}  // namespace recpack::pack
