// Classification of operating system errors.
#pragma once

#include "recpack/base/error.h"

namespace recpack {

// Tells whether the file may be intact although it could not be read, because of permissions,
// limits or an unreachable network. False if the disk could not read it, and if the path is not a
// file.
bool IsRefused(const Error& error);

// Tells whether the process or the machine ran out of open files, memory or disk space.
bool IsResourceLimit(const Error& error);

}  // namespace recpack
