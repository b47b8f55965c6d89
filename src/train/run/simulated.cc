#include "src/train/run/simulated.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "recpack/base/start_thread.h"
#include "src/train/collectives/collective.h"
#include "src/train/ops/seconds.h"
#include "src/train/ops/step_events.h"
#include "src/train/run/time_steps.h"
#include "src/train/run/tower_input.h"

namespace recpack::train {
namespace {

using Clock = std::chrono::steady_clock;

struct Account {
  int64_t steps = 0;
  uint64_t samples = 0;
  double waited = 0;
};

constexpr char kAborted[] = "another simulated device failed";

// Runs `work` for each device on a thread of its own. `abort` makes the others stop after one has
// failed; rethrows the first exception.
void OnThreads(size_t devices, const std::function<void(size_t)>& work,
               const std::function<void()>& abort) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (failure) return;
    failure = std::current_exception();
    abort();
  };
  std::vector<std::thread> threads;
  threads.reserve(devices);
  try {
    for (size_t i = 0; i < devices; ++i) {
      threads.push_back(StartThread([&, i] {
        try {
          work(i);
        } catch (...) {
          fail();
        }
      }));
    }
  } catch (...) {
    fail();
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void RunSimulated(const TrainerOptions& options, DeviceFeeder& feeder,
                  const std::function<void(const EpochReport&)>& report) {
  int64_t steps = 0;
  std::vector<TowerInput> inputs;
  for (size_t i = 0; i < options.devices.size(); ++i) inputs.emplace_back(feeder, i, options.input);
  for (uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    if (options.max_steps && steps >= options.max_steps) return;
    std::vector<Account> accounts(inputs.size());
    const auto begin = Clock::now();
    const auto run = [&](size_t i) {
      Account& account = accounts[i];
      const StepEvents events(i);
      const double before = inputs[i].waited();
      while (!options.max_steps || steps + account.steps < options.max_steps) {
        const int64_t begin_of_step = EventLog::Now();
        const DeviceBatch* batch = inputs[i].Next();
        if (!batch) break;
        {
          const EventSpan computes = events.Computes();
          std::this_thread::sleep_for(options.devices[i].step_time);
        }
        events.Step(begin_of_step, static_cast<uint64_t>(steps + account.steps));
        ++account.steps;
        account.samples += batch->size();
      }
      account.waited = inputs[i].waited() - before;
    };
    OnThreads(inputs.size(), run, [&] { feeder.Abort(kAborted); });
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

std::vector<StepTiming> TimeSimulated(const TrainerOptions& options, DeviceFeeder& feeder) {
  std::vector<StepTiming> timings;
  if (options.timing.inputs.empty()) return timings;
  const size_t count = options.devices.size();
  const auto control = LocalCollectives(static_cast<int>(count));
  const auto run = [&](size_t i) {
    const auto sleep = [&](DeviceBatch&) {
      std::this_thread::sleep_for(options.devices[i].step_time);
    };
    auto timed = TimeSteps({.feeder = feeder,
                            .index = i,
                            .control = *control[i],
                            .step = sleep,
                            .settle = [] {},
                            .account = [] { return ExchangeAccount{}; }},
                           options.timing);
    if (i == 0) timings = std::move(timed);
  };
  OnThreads(count, run, [&] {
    feeder.Abort(kAborted);
    control[0]->Abort(kAborted);
  });
  return timings;
}

}  // namespace recpack::train
