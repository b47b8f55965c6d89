// Process file descriptors, to wait for the end of a process with poll(2).
#pragma once

#include <chrono>

#include "recpack/base/descriptor.h"

namespace recpack::probe {

// Returns -1 if the process or the system call does not exist.
Descriptor OpenPidfd(int process) noexcept;

// Waits for the process's end. Returns false after `timeout` or if a signal handler ran.
bool PollPidfd(const Descriptor& pidfd, std::chrono::nanoseconds timeout) noexcept;

}  // namespace recpack::probe
