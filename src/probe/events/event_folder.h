// Reads and writes the other files of a folder of event files (docs/format/events.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace recpack::probe {

// Returns the distinct lines about what hooks and libraries in the programs could not see.
std::vector<std::string> ReadNotices(const std::string& folder);

// Returns a line for each process whose events could not all be written.
std::vector<std::string> ReadLosses(const std::string& folder);

// Records whether the machine had accelerators (Evidence::accelerators), for later readers of the
// folder. Ignores write errors. KeptAccelerators() returns nullopt if it was not recorded.
void KeepAccelerators(const std::string& folder, bool any);
std::optional<bool> KeptAccelerators(const std::string& folder);

}  // namespace recpack::probe
