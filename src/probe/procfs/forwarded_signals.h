// Signals that are passed on to a process group.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace recpack::probe {

// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTTOU.
sigset_t ForwardedSignals() noexcept;

// In a forked child, before it executes another program: what is not ignored has its default
// effect.
void ResetForwardedSignals() noexcept;

// From its begin to its end the signals go to a group; those that were ignored stay so. One at a
// time.
class SignalForwarding {
 public:
  explicit SignalForwarding(pid_t group) noexcept;
  ~SignalForwarding();
  SignalForwarding(const SignalForwarding&) = delete;

  // The last one; 0: none.
  static int last() noexcept;
};

// Blocks them, so that none is lost between the start of a command and that of passing on.
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
