#include "src/train/simulated.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "src/train/seconds.h"
#include "src/train/tower_input.h"

namespace recpack {
namespace {

using Clock = std::chrono::steady_clock;

struct Account {
  int64_t steps = 0;
  uint64_t samples = 0;
  double waited = 0;
};

}  // namespace

void RunSimulated(const TrainerOptions& options, DeviceFeeder& feeder,
                  const std::function<void(const EpochReport&)>& report) {
  int64_t steps = 0;
  std::vector<TowerInput> inputs;
  for (size_t i = 0; i < options.devices.size(); ++i) inputs.emplace_back(feeder, i, options.input);
  for (uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    if (options.max_steps && steps >= options.max_steps) return;
    std::vector<Account> accounts(inputs.size());
    std::mutex mutex;
    std::exception_ptr failure;
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (size_t i = 0; i < inputs.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          Account& account = accounts[i];
          const double before = inputs[i].waited();
          while (!options.max_steps || steps + account.steps < options.max_steps) {
            const DeviceBatch* batch = inputs[i].Next();
            if (!batch) break;
            std::this_thread::sleep_for(options.devices[i].step_time);
            ++account.steps;
            account.samples += batch->size();
          }
          account.waited = inputs[i].waited() - before;
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
          feeder.Abort("another simulated device failed");
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    EpochReport now{.epoch = epoch};
    now.train_seconds = SecondsSince(begin);
    steps += accounts[0].steps;
    now.steps = steps;
    for (const Account& account : accounts) {
      now.train.samples += account.samples;
      now.input_wait_seconds += account.waited / static_cast<double>(accounts.size());
    }
    report(now);
  }
}

}  // namespace recpack
