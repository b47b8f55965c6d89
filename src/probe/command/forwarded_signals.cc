#include "src/probe/command/forwarded_signals.h"

#include <array>
#include <atomic>
#include <cerrno>

namespace recpack::probe {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<pid_t> group_of_signals = 0;
std::atomic<int> last_signal = 0;
std::array<struct sigaction, kSignals.size()> actions_before;
static_assert(std::atomic<pid_t>::is_always_lock_free);

void PassOn(int signal) {
  const int error = errno;
  last_signal = signal;
  const pid_t group = group_of_signals;
  if (group > 0) ::kill(-group, signal);
  errno = error;
}

}  // namespace

sigset_t ForwardedSignals() noexcept {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : kSignals) ::sigaddset(&signals, signal);
  ::sigaddset(&signals, SIGTTOU);  // sent by tcsetpgrp() to background processes
  return signals;
}

void ResetForwardedSignals() noexcept {
  for (const int signal : kSignals) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
  }
}

SignalForwarding::SignalForwarding(pid_t group) noexcept {
  last_signal = 0;
  group_of_signals = group;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler == SIG_IGN) continue;  // nohup
    struct sigaction action = {};
    action.sa_handler = PassOn;
    action.sa_flags = SA_RESTART;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

SignalForwarding::~SignalForwarding() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &actions_before[i], nullptr);
  }
  group_of_signals = 0;
}

int SignalForwarding::last() noexcept { return last_signal; }

}  // namespace recpack::probe
