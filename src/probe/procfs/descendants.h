// Who descends from a process.
#pragma once

#include <string>
#include <vector>

namespace recpack::probe {

// Those that /proc shows, zombies left out.
std::vector<int> Descendants(const std::string& proc, int of);

}  // namespace recpack::probe
