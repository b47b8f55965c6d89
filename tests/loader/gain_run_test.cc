// Loader in a run of recprobe gain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "recpack/base/error.h"
#include "src/loader/batch/ring.h"
#include "tests/base/gain_environment.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

constexpr uint32_t kGainBlock = 8;

LoaderOptions GainOptions() {
  return {.fields = SmallFields(), .batch_size = 10, .seed = 17, .threads = 2};
}

// Block of the n-th batch in the plan.
GainPlan::Block Planned(uint64_t batch, uint32_t step_batches = 1) {
  return GainPlan(5, kGainBlock).At(batch / step_batches);
}

std::vector<uint64_t> IdsOf(const Batch& batch) { return batch.ids(); }

TEST(GainRun, BatchesAreOfThePlansKinds) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(57);
  Loader loader(Dataset::Open(split.folder()), GainOptions());
  EXPECT_TRUE(loader.in_gain_run());
  for (uint64_t taken = 0; taken < 100;) {
    EXPECT_EQ(loader.NextMode(), static_cast<LoaderMode>(Planned(taken).kind));
    const auto batch = loader.Next();
    if (!batch) continue;
    const auto planned = Planned(taken++);
    ASSERT_TRUE(batch->gain_block());
    EXPECT_EQ(batch->gain_block()->number, planned.number);
    EXPECT_EQ(batch->gain_block()->kind, planned.kind);
    EXPECT_EQ(batch->live(), planned.kind == 0);
  }
}

TEST(GainRun, LiveBatchesAreThoseOfTheDataSetInOrder) {
  const SmallSplit split(57);
  const Dataset dataset = Dataset::Open(split.folder());
  std::vector<std::vector<uint64_t>> expected;
  {
    Loader plain(dataset, GainOptions());
    EXPECT_FALSE(plain.in_gain_run());
    for (auto& taken : Take(plain, 30)) expected.push_back(taken.ids);
  }
  const GainEnvironment environment("5:8");
  Loader loader(dataset, GainOptions());
  std::vector<std::vector<uint64_t>> live;
  while (live.size() < expected.size()) {
    const auto batch = loader.Next();
    if (batch && batch->live()) live.push_back(IdsOf(*batch));
  }
  EXPECT_EQ(live, expected);
}

TEST(GainRun, RepeatedBatchesAreThoseOfTheWarmUp) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(57);
  Loader loader(Dataset::Open(split.folder()), GainOptions());
  std::vector<std::vector<uint64_t>> first;
  std::set<std::vector<uint64_t>> repeated;
  for (int taken = 0; taken < 200;) {
    const auto batch = loader.Next();
    if (!batch) continue;
    if (first.size() < loader.options().prefetch) first.push_back(IdsOf(*batch));
    const uint32_t kind = batch->gain_block()->kind;
    if (kind == 1 || kind == 2) repeated.insert(IdsOf(*batch));
    ++taken;
  }
  EXPECT_EQ(repeated, std::set(first.begin(), first.end()));
}

TEST(GainRun, AStepOfSeveralBatchesIsOfOneKind) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(57);  // 5 batches per epoch: the last one does not fill a step of 2
  Loader loader(Dataset::Open(split.folder()), GainOptions());
  loader.CountSteps(2);
  uint64_t of_steps = 0;
  for (uint64_t taken = 0; taken < 200; ++taken) {
    const auto batch = loader.Next();
    if (!batch) {
      of_steps -= of_steps % 2;
      continue;
    }
    EXPECT_EQ(batch->gain_block()->number, Planned(of_steps, 2).number);
    ++of_steps;
  }
}

TEST(GainRun, ShortBatchesAreNotKeptWhereThereAreWholeOnes) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(57);
  LoaderOptions options = GainOptions();
  options.last_batch = LastBatch::kKeep;
  Loader loader(Dataset::Open(split.folder()), options);
  for (int taken = 0; taken < 100; ++taken) {
    const auto batch = loader.Next();
    if (batch && !batch->live()) {
      EXPECT_EQ(batch->size(), 10U);
    }
  }
}

TEST(GainRun, ALoaderMayStayOut) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(57);
  LoaderOptions options = GainOptions();
  options.in_gain_runs = false;
  Loader loader(Dataset::Open(split.folder()), options);
  EXPECT_FALSE(loader.in_gain_run());
  for (int taken = 0; taken < 60; ++taken) {
    const auto batch = loader.Next();
    if (!batch) continue;
    EXPECT_TRUE(batch->live());
    EXPECT_FALSE(batch->gain_block());
  }
}

TEST(GainRun, AnEnvironmentThatMakesNoSenseIsRefused) {
  const GainEnvironment environment("soon");
  const SmallSplit split(57);
  EXPECT_THROW(Loader(Dataset::Open(split.folder()), GainOptions()), Error);
}

TEST(GainRun, AConsumerMayKeepRepeatedBatches) {
  const GainEnvironment environment("5:8");
  const SmallSplit split(57);
  Loader loader(Dataset::Open(split.folder()), GainOptions());
  std::vector<Batch> held;
  for (int taken = 0; taken < 100; ++taken) {
    auto batch = loader.Next();
    if (batch && !batch->live()) held.push_back(std::move(*batch));
  }
  EXPECT_GT(held.size(), loader.options().prefetch);
}

// Batches made when a live block ends are used when live batches continue, and no others.
TEST(GainRun, APausedRingGivesNoRoomButForExtraWork) {
  const auto page = std::make_shared<StatsPage>(
      StatsPage::Sizes{.workers = 1, .slots = 2, .batch_size = 1, .batch_bytes = 64});
  Ring ring(2, 64, 1, 1, HostSlabs(), Ring::Memory::kLastUsed, page);
  EXPECT_EQ(ring.WaitForRoom(0), Ring::Turn::kRoom);
  ring.Pause(true);
  ring.AllowExtra(1);
  EXPECT_EQ(ring.WaitForRoom(0), Ring::Turn::kExtra);
  std::thread worker([&] { EXPECT_EQ(ring.WaitForRoom(0), Ring::Turn::kRoom); });
  ring.Pause(false);
  worker.join();
  ring.Pause(true);
  std::thread stopped([&] { EXPECT_EQ(ring.WaitForRoom(1), Ring::Turn::kStop); });
  ring.Stop();
  stopped.join();
}

}  // namespace
}  // namespace recpack
