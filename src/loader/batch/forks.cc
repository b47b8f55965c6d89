#include "src/loader/batch/forks.h"

#include <pthread.h>

#include <atomic>

namespace recpack {
namespace {

std::atomic<uint64_t> forks = 0;

void InChild() { forks.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

uint64_t ForksBehind() noexcept {
  static const int registered = ::pthread_atfork(nullptr, nullptr, InChild);
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

}  // namespace recpack
