// memcpy() from a memory mapping that survives truncation of the mapped file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recpack {

// Installs the SIGBUS handler for GuardedCopy(), for all threads. Other SIGBUS signals go to the
// previous handler. May be called more than once.
void InstallCopyGuard();

// Like memcpy(), but returns false if a page of the source does not exist; `to` is then partly
// written. Call InstallCopyGuard() first. Thread-safe.
bool GuardedCopy(uint8_t* to, const uint8_t* from, size_t size) noexcept;

}  // namespace recpack
