#include "src/train/setup/make_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "recpack/base/error.h"

namespace recpack::train {
namespace {

TrainerOptions On(const std::string& devices) {
  TrainerOptions options;
  options.devices = ParseDevices(devices);
  return options;
}

TEST(MakeOps, CpuDevicesAreFedFromTheHost) {
  EXPECT_EQ(FeedingRuntime(On("cpu:0,cpu:1")), nullptr);
}

TEST(MakeOps, AGpuThatIsNotThereIsRefused) {
  for (const char* devices : {"cuda:1000", "cpu:0,cuda:1000", "cuda:1000/0,cuda:1000/1"}) {
    try {
      FeedingRuntime(On(devices));
      FAIL() << devices;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("cuda:1000"));
      EXPECT_THAT(error.what(), testing::HasSubstr("cpu:0"));
    }
  }
}

std::vector<int> ThisThreadsProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<size_t>(i), &set)) processors.push_back(i);
  }
  return processors;
}

void RunOn(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<size_t>(processor), &set);
  ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
}

// As taskset or a launcher leaves some of the machine's.
TEST(MakeOps, ThreadsAreBoundToProcessorsThatTheProcessMayUse) {
  const std::vector<int> all = ThisThreadsProcessors();
  if (all.size() < 2) GTEST_SKIP() << "one processor";
  TrainerOptions options = On("cpu:0,cpu:1");
  options.threads = 1;
  options.bind_threads = true;
  for (const std::vector<int>& allowed : {std::vector<int>{all.back()}, all}) {
    for (const size_t device : {0u, 1u}) {
      std::thread([&] {
        RunOn(allowed);
        const auto ops = MakeOps(options, device);
        ops->Attach();
        EXPECT_EQ(ThisThreadsProcessors(), std::vector{allowed[device % allowed.size()]});
      }).join();
    }
  }
}

}  // namespace
}  // namespace recpack::train
