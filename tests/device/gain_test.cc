// Feeder in a run of recprobe gain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "src/device/gain_lead.h"
#include "tests/base/gain_environment.h"
#include "tests/device/feeding.h"

namespace recpack {
namespace {

TEST(GainLead, LiveGoesOnAsFarAheadAsItWas) {
  std::mutex mutex;
  std::condition_variable changed;
  std::ptrdiff_t ahead = 1;
  const auto now = [&] { return ahead; };
  const auto never = [] { return false; };
  GainLead lead;
  lead.Keep(true, mutex, changed, now, never);   // live from the beginning: no wait
  lead.Keep(false, mutex, changed, now, never);  // the last live block ends
  ahead = 3;
  std::thread consumer([&] {
    for (int i = 0; i < 2; ++i) {
      const std::lock_guard lock(mutex);
      --ahead;
      changed.notify_all();
    }
  });
  lead.Keep(true, mutex, changed, now, never);
  EXPECT_EQ(ahead, 1);
  consumer.join();
}

TEST(GainLead, AFeederThatStopsWaitsNoMore) {
  std::mutex mutex;
  std::condition_variable changed;
  GainLead lead;
  std::ptrdiff_t ahead = 0;
  bool stopped = false;
  lead.Keep(
      false, mutex, changed, [&] { return ahead; }, [&] { return stopped; });
  ahead = 3;
  std::thread end([&] {
    {
      const std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_all();
  });
  lead.Keep(
      true, mutex, changed, [&] { return ahead; }, [&] { return stopped; });
  EXPECT_EQ(ahead, 3);
  end.join();
}

// Every block's kind reaches the consumers, in whatever order they take batches.
TEST(GainRun, EveryConsumerGetsAllKinds) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(103);
  for (const size_t consumers : {1, 3}) {
    DeviceFeeder feeder(Dataset::Open(split.folder()), SmallOptions(),
                        {.runtime = nullptr, .devices = std::vector<int>(consumers, 0)});
    std::vector<std::vector<std::vector<uint64_t>>> steps(consumers);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < consumers; ++i) {
      threads.emplace_back([&, i] {
        while (steps[i].size() < 100) {
          if (const auto batch = feeder.Next(i)) steps[i].push_back(batch->ids());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const GainPlan plan(5, 8);
    for (size_t step = 0; step < 100; ++step) {
      if (plan.At(step).kind != static_cast<uint32_t>(LoaderMode::kSynthetic)) continue;
      for (size_t i = 0; i < consumers; ++i) {
        EXPECT_EQ(steps[i][step], std::vector<uint64_t>(8, 0)) << "made up";
      }
    }
  }
}

TEST(GainRun, OnAFakeDeviceAsWell) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(103);
  FakeRuntime fake(2, FakeRuntime::Mode::kThreads);
  DeviceFeeder feeder(Dataset::Open(split.folder()), SmallOptions(),
                      {.runtime = &fake, .devices = {0, 1}});
  Consumer consumer(feeder, fake);
  for (int step = 0; step < 100; ++step) {
    for (const size_t device : {0, 1}) consumer.Take(device);
  }
  EXPECT_EQ(consumer.Seens().size() % 2, 0U);
}

TEST(GainRun, AFeederMayEndInAnyBlock) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(103);
  for (size_t steps = 0; steps < 50; ++steps) {
    DeviceFeeder feeder(Dataset::Open(split.folder()), SmallOptions(), {.runtime = nullptr});
    for (size_t taken = 0; taken < steps; ++taken) feeder.Next();
  }
}

}  // namespace
}  // namespace recpack
