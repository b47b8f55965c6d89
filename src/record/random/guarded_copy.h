// Copying from a mapping whose file somebody may cut meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recpack {

// Catches SIGBUS for GuardedCopy() from now on, in all threads; any other SIGBUS goes to the
// handler that was there before. Any number of calls.
void InstallCopyGuard();

// memcpy(), but false where a page of the source is not there (then some of `to` is written).
// After InstallCopyGuard(). Any thread.
bool GuardedCopy(uint8_t* to, const uint8_t* from, size_t size) noexcept;

}  // namespace recpack
