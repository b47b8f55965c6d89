// Identifies this machine among those of a run.
#pragma once

#include <cstdint>
#include <string>

namespace recpack::train {

// Returns the kernel's random identity of this boot; empty if it cannot be read.
std::string BootId();

// Returns a hash, not 0, of the boot and the host's name; of the environment variable
// RECPACK_MACHINE instead if it is set.
uint64_t MachineId();

}  // namespace recpack::train
