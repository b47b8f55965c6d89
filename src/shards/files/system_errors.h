// What the operating system's errors say of the files that they come from.
#pragma once

#include "recpack/base/error.h"

namespace recpack {

// Whether the system did not let us see what is on the disk, for reasons that are not the file's:
// rights, limits, a network that is away. Then it may be whole. False for what a disk answers that
// cannot read it, and where something else stands in the file's place.
bool IsRefused(const Error& error);

// Whether the process or the machine has no more of something: open files, memory, room.
bool IsOfLimit(const Error& error);

}  // namespace recpack
