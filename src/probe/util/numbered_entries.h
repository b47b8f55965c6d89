// The entries of a folder whose names are numbers: processes in /proc, threads in a process's task.
#pragma once

#include <string>
#include <vector>

namespace recpack::probe {

// Fills `numbers`, ascending. Returns 0, or errno.
int ListNumberedEntries(const std::string& folder, std::vector<char>& buffer,
                        std::vector<int>& numbers);

}  // namespace recpack::probe
