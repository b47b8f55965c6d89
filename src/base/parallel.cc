#include "recpack/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "recpack/base/cpu.h"
#include "recpack/base/start_thread.h"

namespace recpack {

size_t ParallelThreads(size_t count, int threads) {
  const size_t wanted = static_cast<size_t>(threads > 0 ? threads : AvailableThreads());
  return std::min(wanted, count);
}

void ParallelFor(size_t count, int threads, const std::function<void(size_t, size_t)>& body) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto with_failure_kept = [&](const auto& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  const auto run = [&](size_t worker) {
    with_failure_kept([&] {
      for (size_t i; (i = next.fetch_add(1)) < count;) body(worker, i);
    });
  };
  {
    std::vector<std::jthread> others;
    with_failure_kept([&] {
      for (size_t i = 1; i < ParallelThreads(count, threads); ++i) {
        others.push_back(StartThread<std::jthread>([&run, i] { run(i); }));
      }
    });
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace recpack
