// Lists the entries of a folder whose names are numbers: processes in /proc, threads in
// /proc/PID/task.
#pragma once

#include <string>
#include <vector>

namespace recpack::probe {

// Fills `numbers` in ascending order. `buffer` is scratch space. Returns 0, or errno.
int ListNumberedEntries(const std::string& folder, std::vector<char>& buffer,
                        std::vector<int>& numbers);

}  // namespace recpack::probe
