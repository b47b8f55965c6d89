// Forwards signals to a process group.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace recpack::probe {

// Returns SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTTOU.
sigset_t ForwardedSignals() noexcept;

// Restores the default action of the signals that are not ignored. For a forked child before
// exec().
void ResetForwardedSignals() noexcept;

// Forwards the signals to `group` while the object lives; ignored signals stay ignored. At most one
// object at a time.
class SignalForwarding {
 public:
  explicit SignalForwarding(pid_t group) noexcept;
  ~SignalForwarding();
  SignalForwarding(const SignalForwarding&) = delete;

  // Returns the signal forwarded last; 0: none.
  static int last() noexcept;
};

// Blocks the signals while the object lives, so that none is lost between the start of a command
// and the start of forwarding.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    const sigset_t signals = ForwardedSignals();
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t before_;
};

}  // namespace recpack::probe
