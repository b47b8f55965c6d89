#include "src/probe/command/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace recpack::probe {

Descriptor OpenPidfd(int process) noexcept {
#ifdef SYS_pidfd_open
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
#else
  return Descriptor();
#endif
}

bool PollPidfd(const Descriptor& pidfd, std::chrono::nanoseconds timeout) noexcept {
  pollfd poll = {.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  const auto left = std::max(timeout, std::chrono::nanoseconds(0));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec time = {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  return ::ppoll(&poll, 1, &time, nullptr) > 0;
}

}  // namespace recpack::probe
