// Descriptors of processes, which poll(2) tells the end of.
#pragma once

#include <chrono>

#include "recpack/base/descriptor.h"

namespace recpack::probe {

// -1 where the process or the system call is not there.
Descriptor OpenPidfd(int process) noexcept;

// Whether its process has ended, after `timeout` at most or a signal's handler.
bool PollPidfd(const Descriptor& pidfd, std::chrono::nanoseconds timeout) noexcept;

}  // namespace recpack::probe
