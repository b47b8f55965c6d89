// Makes files that have a size and take no space.
#pragma once

#include <cstdint>
#include <string>

namespace recpack::pack {

// Replaces what is at `path`. Throws Error (kIo).
void MakeHole(const std::string& path, uint64_t bytes);

}  // namespace recpack::pack
