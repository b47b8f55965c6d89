#include "src/probe/procfs/busiest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

ThreadRates Thread(int number, double ran, Figure queued = {}, Figure blocked = {}) {
  return {.thread = number,
          .cpu_share = ran,
          .run_queue_wait_share = queued,
          .block_io_wait_share = blocked};
}

auto Threads(auto... numbers) { return ElementsAre(Field(&ThreadRates::thread, numbers)...); }
auto Processes(auto... numbers) { return ElementsAre(Field(&ProcessRates::process, numbers)...); }

TEST(Busiest, WaitingForAProcessorOrADiskCountsLikeRunning) {
  const SystemRates system{
      .threads = {Thread(1, 0.5), Thread(2, 0.3, 0.4), Thread(3, 0.1, 0.1, 0.7), Thread(4, 0.6)}};
  EXPECT_THAT(BusiestThreads(system, 9), Threads(3, 2, 4, 1));
  EXPECT_THAT(BusiestThreads(system, 2), Threads(3, 2));
}

TEST(Busiest, ThreadsThatSleptAreNotShown) {
  EXPECT_THAT(BusiestThreads({.threads = {Thread(1, 0.0001), Thread(2, 0.01)}}, 9), Threads(2));
  EXPECT_THAT(BusiestThreads({}, 9), IsEmpty());
}

TEST(Busiest, AProcessThatMovesBytesIsShownThoughItHardlyRan) {
  const SystemRates system{.processes = {{.process = 1, .cpu_cores = 0.2},
                                         {.process = 2},
                                         {.process = 3, .read_bytes_per_second = 5e6},
                                         {.process = 4, .cpu_cores = 1.5}}};
  EXPECT_THAT(BusiestProcesses(system, 9), Processes(4, 1, 3));
  EXPECT_THAT(BusiestProcesses(system, 1), Processes(4));
}

}  // namespace
}  // namespace recpack::probe
