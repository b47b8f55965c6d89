#include "recpack/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "recpack/base/cpu.h"

namespace recpack {

size_t ParallelThreads(size_t count, int threads) {
  const size_t wanted = static_cast<size_t>(threads > 0 ? threads : AvailableThreads());
  return std::min(wanted, count);
}

void ParallelFor(size_t count, int threads, const std::function<void(size_t, size_t)>& body) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&](size_t worker) {
    try {
      for (size_t i; (i = next.fetch_add(1)) < count;) body(worker, i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < ParallelThreads(count, threads); ++i) others.emplace_back(run, i);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace recpack
