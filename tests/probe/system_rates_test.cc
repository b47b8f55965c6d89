#include "src/probe/procfs/system_rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kMs = 1'000'000;

class SystemRatesTest : public testing::Test {
 protected:
  SystemRatesTest() {
    first_.time_ns = 5 * kSecond;
    second_.time_ns = 7 * kSecond;
  }
  SystemRates Rates() const { return RatesBetween(first_, second_); }

  SystemSample first_;
  SystemSample second_;
};

TEST_F(SystemRatesTest, SharesOfCoresAddUpToOne) {
  first_.cores = {
      {.core = 3, .busy_ns = 100 * kMs, .idle_ns = 0, .iowait_ns = 50 * kMs, .steal_ns = 0}};
  second_.cores = {{.core = 1},
                   {.core = 3,
                    .busy_ns = 1100 * kMs,
                    .idle_ns = 500 * kMs,
                    .iowait_ns = 350 * kMs,
                    .steal_ns = 200 * kMs}};
  const SystemRates rates = Rates();
  ASSERT_THAT(rates.cores, SizeIs(1));
  EXPECT_EQ(rates.cores[0].core, 3);
  EXPECT_DOUBLE_EQ(rates.cores[0].busy_share, 0.5);
  EXPECT_DOUBLE_EQ(rates.cores[0].iowait_share.value(), 0.15);
  EXPECT_DOUBLE_EQ(rates.cores[0].steal_share.value(), 0.1);
}

TEST_F(SystemRatesTest, IowaitMayStepBack) {
  first_.cores = {{.iowait_ns = 50 * kMs}};
  second_.cores = {{.busy_ns = 10 * kMs, .iowait_ns = 40 * kMs}};
  EXPECT_EQ(Rates().cores.at(0).iowait_share, 0);
  EXPECT_EQ(Rates().cores.at(0).steal_share, std::nullopt);
}

TEST_F(SystemRatesTest, OthersAreWhatTheTreeAndTheProbeDidNotUse) {
  first_.cores = {{.core = 0}, {.core = 1}, {.core = 2}};
  second_.cores = {{.core = 0, .busy_ns = 2000 * kMs},
                   {.core = 1, .busy_ns = 1000 * kMs, .idle_ns = 1000 * kMs},
                   {.core = 2, .busy_ns = 2000 * kMs}};
  second_.allowed_cores = {0, 1};
  second_.tree_cpu_ns = 1000 * kMs;
  second_.own_cpu_ns = 100 * kMs;
  const SystemRates rates = Rates();
  EXPECT_EQ(rates.allowed_cores, 2);
  EXPECT_DOUBLE_EQ(rates.tree_cores, 0.5);
  EXPECT_DOUBLE_EQ(rates.others_cores.value(), 1.5 - 0.5 - 0.05);
  second_.allowed_cores.clear();
  EXPECT_EQ(Rates().others_cores, std::nullopt);
}

TEST_F(SystemRatesTest, ThreadsGoByTheExactTimeWhereThereIsOne) {
  first_.threads = {
      {.thread = 1, .process = 1, .user_ns = 0, .run_ns = 5 * kMs, .run_queue_wait_ns = 0}};
  second_.threads = {{.thread = 1,
                      .process = 1,
                      .user_ns = 2000 * kMs,
                      .run_ns = 1005 * kMs,
                      .run_queue_wait_ns = 500 * kMs},
                     {.thread = 2, .process = 1, .system_ns = 200 * kMs}};
  const SystemRates rates = Rates();
  ASSERT_THAT(rates.threads, SizeIs(2));
  EXPECT_DOUBLE_EQ(rates.threads[0].cpu_share, 0.5);
  EXPECT_DOUBLE_EQ(rates.threads[0].run_queue_wait_share.value(), 0.25);
  EXPECT_EQ(rates.threads[0].block_io_wait_share, std::nullopt);
  EXPECT_DOUBLE_EQ(rates.threads[1].cpu_share, 0.1) << "it began in between";
  EXPECT_EQ(rates.threads[1].run_queue_wait_share, std::nullopt);
}

TEST_F(SystemRatesTest, ANewProcessOfAnOldNumberBeginsAtNothing) {
  first_.processes = {
      {.process = 9, .start_ticks = 1, .user_ns = 500 * kMs, .io = {.read_bytes = 100}}};
  second_.processes = {
      {.process = 9, .start_ticks = 2, .user_ns = 600 * kMs, .io = {.read_bytes = 300}}};
  EXPECT_DOUBLE_EQ(Rates().processes.at(0).cpu_cores, 0.3);
  EXPECT_DOUBLE_EQ(Rates().processes.at(0).read_bytes_per_second.value(), 150);
  second_.processes[0].start_ticks = 1;
  EXPECT_DOUBLE_EQ(Rates().processes.at(0).cpu_cores, 0.05);
  EXPECT_DOUBLE_EQ(Rates().processes.at(0).read_bytes_per_second.value(), 100);
  EXPECT_EQ(Rates().processes.at(0).written_bytes_per_second, std::nullopt);
}

TEST_F(SystemRatesTest, Devices) {
  first_.devices = {{.name = "vda", .reads = 10, .read_bytes = 1000, .read_ns = 0}};
  second_.devices = {{.name = "new", .reads = 5},
                     {.name = "vda",
                      .reads = 30,
                      .read_bytes = 5000,
                      .read_ns = 40 * kMs,
                      .busy_ns = 1000 * kMs,
                      .weighted_ns = 8000 * kMs}};
  const SystemRates rates = Rates();
  ASSERT_THAT(rates.devices, SizeIs(1));
  EXPECT_DOUBLE_EQ(rates.devices[0].reads_per_second, 10);
  EXPECT_DOUBLE_EQ(rates.devices[0].read_bytes_per_second, 2000);
  EXPECT_DOUBLE_EQ(rates.devices[0].busy_share, 0.5);
  EXPECT_DOUBLE_EQ(rates.devices[0].queue, 4);
  EXPECT_DOUBLE_EQ(rates.devices[0].ns_per_read.value(), 2.0 * kMs);
  second_.devices[1].reads = 10;
  EXPECT_EQ(Rates().devices.at(0).ns_per_read, std::nullopt);
}

TEST_F(SystemRatesTest, CountersThatBeganAnewGiveNoRate) {
  first_.page_cache.refaults = 100;
  second_.page_cache.refaults = 50;
  first_.network = {{.name = "eth0", .received_bytes = 7}};
  second_.network = {{.name = "eth0", .received_bytes = 3}};
  EXPECT_EQ(Rates().refaults_per_second, std::nullopt);
  EXPECT_THAT(Rates().network, IsEmpty());
}

TEST_F(SystemRatesTest, PressureAndThrottling) {
  first_.pressure.io.some_ns = 0;
  second_.pressure.io.some_ns = 500 * kMs;
  first_.cgroup.periods = 0;
  second_.cgroup.periods = 20;
  first_.cgroup.throttled_periods = 0;
  second_.cgroup.throttled_periods = 5;
  first_.cgroup.throttled_ns = 0;
  second_.cgroup.throttled_ns = 3000 * kMs;
  const SystemRates rates = Rates();
  EXPECT_DOUBLE_EQ(rates.pressure.io.some.value(), 0.25);
  EXPECT_EQ(rates.pressure.io.full, std::nullopt);
  EXPECT_DOUBLE_EQ(rates.throttled_periods_share.value(), 0.25);
  EXPECT_DOUBLE_EQ(rates.throttled_cores.value(), 1.5);
  second_.cgroup.periods = 0;
  EXPECT_EQ(Rates().throttled_periods_share, std::nullopt);
}

TEST_F(SystemRatesTest, NoTimeBetweenThemIsNoDivisionByZero) {
  second_.time_ns = first_.time_ns;
  first_.page_cache.refaults = 1;
  second_.page_cache.refaults = 2;
  second_.tree_cpu_ns = 5;
  EXPECT_EQ(Rates().refaults_per_second, std::nullopt);
  EXPECT_EQ(Rates().tree_cores, 0);
}

}  // namespace
}  // namespace recpack::probe
