// A machine, its ceilings and what of it hurts, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "src/probe/doctor/ceilings.h"
#include "src/probe/doctor/machine.h"

namespace recpack::probe {

// Each with a headline, 100 columns wide.
std::string MachineText(const Machine& machine);
std::string CeilingsText(const Ceilings& ceilings);
std::string FindingsText(const std::vector<MachineFinding>& findings);

// One JSON object on one line each; docs/doctor.md has the members. What could not be read or
// measured is {"unavailable": REASON}.
std::string MachineJson(const Machine& machine);
std::string CeilingsJson(const Ceilings& ceilings);

}  // namespace recpack::probe
