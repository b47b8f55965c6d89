#include "src/train/ops/device_queue.h"

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <vector>

#include "src/train/cpu/cpu_ops.h"
#include "src/train/layers/transfer.h"

namespace recpack::train {
namespace {

constexpr auto kOwnThread = DeviceQueue::Done::kByOwnThread;

class DeviceQueueTest : public testing::Test {
 protected:
  const std::unique_ptr<Ops> first_ops_ = MakeCpuOps({.threads = 1});
  const std::unique_ptr<Ops> second_ops_ = MakeCpuOps({.threads = 1});
  DeviceQueue first_{*first_ops_, kOwnThread}, second_{*second_ops_, kOwnThread};
};

TEST_F(DeviceQueueTest, WorksInOrderAndIsEmptyOnceJoined) {
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) first_.Do([&seen, i] { seen.push_back(i); });
  first_.Join();
  ASSERT_EQ(seen.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST_F(DeviceQueueTest, QueuesWorkBesideEachOther) {
  std::latch both(2);
  for (DeviceQueue* queue : {&first_, &second_}) queue->Do([&] { both.arrive_and_wait(); });
  first_.Join();
  second_.Join();
}

TEST_F(DeviceQueueTest, OneWaitsForAnother) {
  std::latch begin(1);
  int value = 0, seen = 0;
  first_.Do([&] {
    begin.wait();
    value = 7;
  });
  second_.Do([&, given = first_.given()] {
    EXPECT_TRUE(first_.Await(given));
    seen = value;
  });
  begin.count_down();
  second_.Join();
  EXPECT_EQ(seen, 7);
}

TEST_F(DeviceQueueTest, AFailureEndsWhatIsBehindItAndIsThrownOnce) {
  bool worked = false, awaited = true;
  first_.Do([] { throw std::runtime_error("no memory"); });
  first_.Do([&] { worked = true; });
  second_.Do([&, given = first_.given()] { awaited = first_.Await(given); });
  second_.Join();
  EXPECT_THROW(first_.Join(), std::runtime_error);
  EXPECT_FALSE(worked);
  EXPECT_FALSE(awaited);
  first_.DoAndJoin([&] { worked = true; });
  EXPECT_TRUE(worked);
}

TEST_F(DeviceQueueTest, WithoutAThreadWorkIsDoneAtOnce) {
  DeviceQueue queue(*first_ops_, DeviceQueue::Done::kAtOnce);
  const auto here = std::this_thread::get_id();
  std::thread::id there;
  queue.Do([&] { there = std::this_thread::get_id(); });
  EXPECT_EQ(there, here);
  EXPECT_THROW(queue.Do([] { throw std::runtime_error("no memory"); }), std::runtime_error);
  queue.Join();
}

TEST_F(DeviceQueueTest, ATransferMovesWhatItsSourceHasWritten) {
  TransferLog log;
  Transfer transfer(first_, second_, log);
  const DeviceArray from = first_ops_->Allocate(4), to = second_ops_->Allocate(4);
  first_.Do([&] { *from.As<int>() = 5; });
  transfer.Move(from.data(), to.data(), 4);
  second_.Join();
  EXPECT_EQ(*to.As<int>(), 5);
  EXPECT_NE(from.data(), to.data());
  const TransferAccount account = log.Take();
  EXPECT_EQ(account.calls, 1u);
  EXPECT_EQ(account.bytes, 4u);
  EXPECT_EQ(account.shortest, account.longest);
  EXPECT_EQ(log.Take().calls, 0u);
}

TEST_F(DeviceQueueTest, NothingIsCopiedOfWhatFailed) {
  TransferLog log;
  Transfer transfer(first_, second_, log);
  int value = 5, copy = 0;
  first_.Do([] { throw std::runtime_error("no memory"); });
  transfer.Move(&value, &copy, sizeof value);
  second_.Join();
  EXPECT_THROW(first_.Join(), std::runtime_error);
  EXPECT_EQ(copy, 0);
  EXPECT_EQ(log.Take().calls, 0u);
}

}  // namespace
}  // namespace recpack::train
