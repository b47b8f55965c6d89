#include "src/ceiling/timed.h"

#include <algorithm>
#include <barrier>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/median.h"
#include "src/base/format.h"

namespace recpack::ceiling {
namespace {

using Clock = std::chrono::steady_clock;

// Amount of work of one thread and its duration.
struct Done {
  double amount = 0;
  double seconds = 0;
};

Done WorkFor(const Work& work, Clock::duration time) {
  Done done;
  const auto begin = Clock::now();
  auto now = begin;
  while (now - begin < time) {
    done.amount += work();
    now = Clock::now();
  }
  done.seconds = std::chrono::duration<double>(now - begin).count();
  return done;
}

}  // namespace

Rate Timed(const CeilingOptions& options, const std::function<Work(size_t thread)>& make) {
  const auto count = static_cast<size_t>(options.threads < 1 ? 1 : options.threads);
  std::barrier ready(static_cast<std::ptrdiff_t>(count));
  std::mutex mutex;
  Rate rate;
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const auto run = [&, i] {
        Done done;
        std::string failure;
        bool arrived = false;
        try {
          const Work work = make(i);
          work();  // warm-up: touches its memory
          ready.arrive_and_wait();
          arrived = true;
          done = WorkFor(work, options.time);
        } catch (const std::exception& error) {
          failure = error.what();
        }
        if (!arrived) ready.arrive_and_drop();
        const std::lock_guard lock(mutex);
        if (!failure.empty()) rate.unavailable = failure;
        if (done.seconds > 0) rate.per_second += done.amount / done.seconds;
      };
      try {
        threads.emplace_back(run);
      } catch (const std::system_error& error) {  // release the threads that wait at the barrier
        for (size_t missing = i; missing < count; ++missing) ready.arrive_and_drop();
        const std::lock_guard lock(mutex);
        rate.unavailable = format("{} threads cannot be started: {}", count, error.what());
        break;
      }
    }
  }
  if (rate.measured() && rate.per_second == 0) rate.unavailable = "nothing was done";
  return rate;
}

Spread MeasureSpread(int rounds, const std::function<Rate()>& measure) {
  std::vector<double> rates;
  do {
    const Rate rate = measure();
    if (!rate.measured()) return {.unavailable = rate.unavailable};
    rates.push_back(rate.per_second);
  } while (static_cast<int>(rates.size()) < rounds);
  const auto [low, high] = std::ranges::minmax(rates);
  return {.value = Median(rates), .low = low, .high = high};
}

}  // namespace recpack::ceiling
