// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace recpack::tool {

// "61.4 MB" (decimal units), "1,234,567".
std::string HumanBytes(uint64_t bytes);
std::string HumanCount(uint64_t count);

}  // namespace recpack::tool
