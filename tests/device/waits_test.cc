// Every wait of the feeder is needed: with all waits each scenario is clean and is shown to make
// the wait; without it there is a violation or wrong bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "recpack/base/error.h"
#include "tests/device/feeding.h"

namespace recpack {
namespace {

using Mode = FakeRuntime::Mode;

// Result of a scenario; empty if it passed.
using Scenario = std::string (*)(const Dataset&, FakeRuntime&);

std::string Compare(const std::vector<Seen>& seen, const std::vector<Seen>& expected) {
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].bytes != expected[i].bytes) return "wrong bytes in batch " + std::to_string(i);
  }
  return "";
}

// Reads an epoch like a trainer.
std::string ReadEpoch(const Dataset& dataset, FakeRuntime& fake) {
  const auto expected = FromLoader(dataset, SmallOptions(), 12);
  DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake});
  Consumer consumer(feeder, fake);
  while (consumer.Take(0)) continue;
  return Compare(consumer.Seens(), expected);
}

// Takes three batches from a loader with two slabs before reading them.
std::string TakeMoreThanTheLoaderHolds(const Dataset& dataset, FakeRuntime& fake) {
  const auto expected = FromLoader(dataset, SmallOptions(), 3);
  DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake, .depth = 3});
  Consumer consumer(feeder, fake);
  std::vector<std::optional<DeviceBatch>> batches;
  for (int i = 0; i < 3; ++i) batches.push_back(feeder.Next());
  for (auto& batch : batches) consumer.Read(*batch, 0);
  return Compare(consumer.Seens(), expected);
}

std::string Discard(const Dataset& dataset, FakeRuntime& fake) {
  DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake, .depth = 1});
  while (feeder.Next()) continue;
  return "";
}

// The consumer ends while its enqueued work is still to run.
std::string LeaveInMidStep(const Dataset& dataset, FakeRuntime& fake) {
  const DeviceStream stream = fake.CreateStream(0);
  {
    DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake});
    auto batch = feeder.Next();
    batch->OnStream(stream);
    fake.Read(0, batch->Raw("image"), 64, stream);
  }
  fake.DestroyStream(0, stream);
  return "";
}

// The kNth event record fails: of a copy, of its kernels, of its reader.
template <int kNth>
std::string FailRecord(const Dataset& dataset, FakeRuntime& fake) {
  fake.FailCall("cudaEventRecord", kNth);
  DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake, .depth = 1});
  Consumer consumer(feeder, fake);
  try {
    for (int i = 0; i < 3; ++i) consumer.Take(0);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kDevice) return error.what();
  }
  return "";
}

struct WaitCase {
  WaitPoint point;
  Scenario scenario;
};

class Waits : public testing::TestWithParam<WaitCase> {};

// The fake is destroyed last, so its violations include those from the feeder's end.
std::string Play(const WaitCase& one, bool skip, Mode mode) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  FakeRuntime fake(1, mode);
  if (skip) fake.Skip(one.point);
  std::string found = one.scenario(dataset, fake);
  for (const std::string& violation : fake.violations()) found += "\n" + violation;
  found += fake.leaks();
  if (!skip) {
    EXPECT_GT(fake.waits(one.point), 0) << "the scenario does not come to the wait";
  }
  return found;
}

TEST_P(Waits, WithItAllIsWell) {
  for (const Mode mode : {Mode::kLazy, Mode::kThreads})
    EXPECT_EQ(Play(GetParam(), false, mode), "");
}

TEST_P(Waits, WithoutItMemoryIsUsedTooEarly) {
  // Whether memory that is used too early has been written anew by then is a matter of threads.
  constexpr int kTries = 20;
  std::string found;
  for (int i = 0; i < kTries && found.empty(); ++i) found = Play(GetParam(), true, Mode::kLazy);
  EXPECT_NE(found, "") << "nobody noticed";
  RecordProperty("found", found);
}

constexpr WaitCase kCases[] = {
    {WaitPoint::kFinishAfterCopy, ReadEpoch},
    {WaitPoint::kConsumerAfterReady, ReadEpoch},
    {WaitPoint::kCopyAfterConsumer, ReadEpoch},
    {WaitPoint::kCopyAfterFinish, Discard},
    {WaitPoint::kReleaseAfterCopy, TakeMoreThanTheLoaderHolds},
    {WaitPoint::kFreeAfterConsumer, LeaveInMidStep},
    {WaitPoint::kFreeAfterFinish, Discard},
    {WaitPoint::kUnwindCopy, FailRecord<0>},
    {WaitPoint::kUnwindFinish, FailRecord<1>},
    {WaitPoint::kUnwindReader, FailRecord<2>},
};
static_assert(std::size(kCases) == kWaitPoints);

std::string NameOf(const testing::TestParamInfo<WaitCase>& one) {
  std::string name = WaitPointName(one.param.point);
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Points, Waits, testing::ValuesIn(kCases), NameOf);

}  // namespace
}  // namespace recpack
