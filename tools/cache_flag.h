// Adds and parses the flag --cache.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "recpack/loader/cache.h"

namespace recpack::tool {

void AddCacheFlag(CLI::App& command, std::string& text);

// Parses "records:4GB" or "pictures:500MB"; empty: no cache. Throws Error (kInvalidArgument).
CacheOptions ParseCache(const std::string& text);

}  // namespace recpack::tool
