#include "src/record/guarded_copy.h"

#include <setjmp.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "recpack/base/error.h"

namespace recpack {
namespace {

// Where this thread goes on if the copy it is in hits a missing page; null outside of a copy.
thread_local sigjmp_buf* landing = nullptr;

struct sigaction previous;

void OnBusError(int number, siginfo_t* info, void* context) {
  if (landing != nullptr) siglongjmp(*landing, 1);
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    ::signal(SIGBUS, SIG_DFL);  // the access is tried again, and ends the process as it always did
  } else {
    previous.sa_handler(number);
  }
}

}  // namespace

void InstallCopyGuard() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    // SA_NODEFER: the jump out leaves no signal blocked, so that no mask needs to be saved.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    if (::sigaction(SIGBUS, &action, &previous) != 0) {
      throw SystemError("cannot catch SIGBUS", "", errno);
    }
  });
}

bool GuardedCopy(uint8_t* to, const uint8_t* from, size_t size) noexcept {
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    landing = nullptr;
    return false;
  }
  landing = &here;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(to, from, size);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  landing = nullptr;
  return true;
}

}  // namespace recpack
