// What stands in a folder of event files beside them (docs/format/events.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace recpack::probe {

// What hooks and libraries in the programs could not see: a line each, once.
std::vector<std::string> NoticesIn(const std::string& folder);

// Of which programs not all that they told could be written: a line each.
std::vector<std::string> LostIn(const std::string& folder);

// Whether the machine had devices that work by themselves (Evidence::accelerators), for who reads
// the folder later. Where it cannot be written it is not known then.
void KeepAccelerators(const std::string& folder, bool any);
std::optional<bool> KeptAccelerators(const std::string& folder);

}  // namespace recpack::probe
