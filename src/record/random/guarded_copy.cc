#include "src/record/random/guarded_copy.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "recpack/base/error.h"

namespace recpack {
namespace {

// Jump target of this thread if its copy hits a missing page; null outside a copy.
thread_local sigjmp_buf* landing = nullptr;

struct sigaction previous;

void OnBusError(int number, siginfo_t* info, void* context) {
  if (landing != nullptr) {
    // Restore the previous signal mask: the handler runs with more signals blocked.
    ::pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    siglongjmp(*landing, 1);
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler == SIG_IGN && info->si_code <= 0) {
    // Sent by a process: ignore it, as before.
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    ::signal(SIGBUS, SIG_DFL);
    ::raise(SIGBUS);  // ends the process on return, as without this handler
  } else {
    previous.sa_handler(number);
  }
}

#if defined(__SANITIZE_THREAD__)
#define RECPACK_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RECPACK_THREAD_SANITIZER
#endif
#endif

#if defined(RECPACK_THREAD_SANITIZER)
// Must not be ThreadSanitizer's memcpy(), which a longjmp() must not leave.
__attribute__((no_sanitize("thread"))) void CopyBytes(uint8_t* to, const uint8_t* from,
                                                      size_t size) {
  const volatile uint8_t* bytes = from;
  for (size_t i = 0; i < size; ++i) to[i] = bytes[i];
}
#else
void CopyBytes(uint8_t* to, const uint8_t* from, size_t size) { std::memcpy(to, from, size); }
#endif

}  // namespace

void InstallCopyGuard() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (::sigaction(SIGBUS, &action, &previous) != 0) {
      throw SystemError("cannot catch SIGBUS", "", errno);
    }
  });
}

bool GuardedCopy(uint8_t* to, const uint8_t* from, size_t size) noexcept {
  sigjmp_buf here;  // without the signal mask, which would cost a system call to save
  if (sigsetjmp(here, 0) != 0) {
    landing = nullptr;
    return false;
  }
  landing = &here;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  CopyBytes(to, from, size);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  landing = nullptr;
  return true;
}

}  // namespace recpack
