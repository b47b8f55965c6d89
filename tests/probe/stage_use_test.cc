#include "src/probe/stages/stage_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

// Ceilings of a machine with four cores. Decoding a picture of 100 kB and 0.2 megapixels takes 1 ms
// of one core.
Ceilings Known() {
  const auto rate = [](const char* name, double one, double all) {
    return Ceiling{.name = name,
                   .unit = "",
                   .one = {.value = one, .low = one, .high = one},
                   .all = {.value = all, .low = all, .high = all},
                   .threads = 4};
  };
  return {.cores = 4,
          .rates = {rate(kReadCold, 1e8, 2e8), rate(kReadCached, 2e10, 4e10),
                    rate(kCrc, 1e10, 4e10), rate(kMemset, 1e10, 2e10), rate(kJpeg, 900, 3600)},
          .decode = {.picture = 0, .byte = 8e-9, .pixel = 1e-9},
          .scaling = {{.threads = 1}, {.threads = 4}},
          .store_bytes_per_second = 1e12};
}

struct Seen {
  int workers = 1;
  double decode = 0, read = 0, input = 0, room = 0;  // seconds out of 10, of each worker
  uint64_t samples = 1000;
  double consumer_wait = 8;
};

// Ten seconds of whole pictures of 100 kB and 0.2 megapixels.
std::vector<LoaderSample> Loader(const Seen& seen) {
  std::vector<LoaderSample> samples(2);
  for (LoaderSample& sample : samples) {
    sample.process = 5;
    sample.stats.workers.resize(static_cast<size_t>(seen.workers));
  }
  samples[1].time = 10'000'000'000;
  LoaderStats& stats = samples[1].stats;
  stats.batches = 100;
  stats.samples = seen.samples;
  const auto time = [](double seconds) {
    return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
  };
  stats.consumer_wait = time(seen.consumer_wait);
  const uint64_t each = seen.samples / static_cast<uint64_t>(seen.workers);
  for (WorkerStats& worker : stats.workers) {
    const auto set = [&](Stage stage, double seconds, uint64_t bytes) {
      if (seconds > 0) {
        worker.stages[static_cast<size_t>(stage)] = {each, bytes * each, time(seconds)};
      }
    };
    set(Stage::kRoom, seen.room, 0);
    set(Stage::kDecode, seen.decode, 100'000);
    set(Stage::kRead, seen.read, 101'000);
    set(Stage::kInput, seen.input, 0);
    if (seen.decode > 0) worker.pictures = {200'000 * each, 200'000 * each, 100'000 * each};
  }
  return samples;
}

LoaderUse FindUse(const Seen& seen, const std::optional<Ceilings>& ceilings = Known()) {
  const auto use = MakeLoaderUse({.loaders = Loader(seen)}, ceilings);
  EXPECT_TRUE(use);
  return use.value_or(LoaderUse());
}

const WhatIf& Row(const LoaderUse& use, const std::string& change) {
  for (const WhatIf& row : use.what_if) {
    if (row.change.find(change) != std::string::npos) return row;
  }
  ADD_FAILURE() << "no row " << change;
  return use.what_if.front();
}

TEST(StageUse, NothingOfLoadersThatAreNone) {
  EXPECT_FALSE(MakeLoaderUse({}, Known()));
  EXPECT_FALSE(MakeLoaderUse({.loaders = {LoaderSample{}}}, Known()));
}

// Statistics that were read while they were written.
TEST(StageUse, AStageWhoseTimeShrinksTakesNone) {
  std::vector<LoaderSample> samples = Loader({.decode = 10});
  samples[0].stats.workers[0].stages[static_cast<size_t>(Stage::kRoom)].time =
      std::chrono::milliseconds(1);
  const auto use = MakeLoaderUse({.loaders = samples}, Known());
  ASSERT_TRUE(use);
  EXPECT_EQ(use->room_share, 0);
  ASSERT_EQ(use->stages.size(), 1u);
  EXPECT_EQ(use->stages[0].share, 1);
}

TEST(StageUse, WithoutCeilingsItSaysHowToHaveThem) {
  const LoaderUse use = FindUse({.decode = 10}, std::nullopt);
  ASSERT_EQ(use.stages.size(), 1u);
  EXPECT_FALSE(use.stages[0].ceiling);
  EXPECT_TRUE(use.what_if.empty());
  EXPECT_THAT(LoaderUseText(use), HasSubstr("recprobe doctor"));
}

TEST(StageUse, AStageAtItsCeiling) {
  // One worker takes 10 s for 9,400 pictures of 1 ms each.
  const LoaderUse use = FindUse({.decode = 10, .samples = 9400});
  ASSERT_EQ(use.stages.size(), 1u);
  EXPECT_NEAR(*use.stages[0].rate, 940, 1e-6);
  EXPECT_NEAR(*use.stages[0].ceiling, 1000, 1e-6);
  EXPECT_NEAR(*use.stages[0].ceiling_share(), 0.94, 1e-9);
  EXPECT_THAT(use.next, HasSubstr("decode runs at 94 % of its ceiling on 1 of 4 cores"));
}

TEST(StageUse, MoreThreadsHelpWhereThereAreCores) {
  const LoaderUse one = FindUse({.decode = 10, .samples = 9400, .consumer_wait = 9.9});
  EXPECT_THAT(one.next, HasSubstr("4 threads would give"));
  const LoaderUse all =
      FindUse({.workers = 4, .decode = 10, .samples = 37'600, .consumer_wait = 9.99});
  EXPECT_THAT(all.next, HasSubstr("on 4 of 4 cores; more threads cannot help"));
  EXPECT_THAT(all.next, HasSubstr("would give"));
}

TEST(StageUse, SmallerPicturesByAreaWhereNothingWasMeasured) {
  const LoaderUse use = FindUse({.decode = 10, .samples = 9400, .consumer_wait = 9.99});
  const double shorter_squared = 200'000 * 3.0 / 4;
  EXPECT_NEAR(Row(use, "--resize 256").loader, 940 * shorter_squared / (256.0 * 256), 1);
  Ceilings measured = Known();
  measured.resize = {.shorter = 256, .bytes = 0.6, .seconds = 0.5};
  EXPECT_NEAR(
      Row(FindUse({.decode = 10, .samples = 9400, .consumer_wait = 9.99}, measured), "--resize")
          .loader,
      2 * 940, 1);
}

TEST(StageUse, TheConsumerIsTheLimitOfAll) {
  // The workers wait half of the time: the rate can at most double.
  const LoaderUse use = FindUse({.decode = 10, .samples = 1000, .consumer_wait = 5});
  EXPECT_NEAR(use.consumer_per_second, 200, 1e-6);
  for (const WhatIf& row : use.what_if) {
    if (row.change.find("ranks") == std::string::npos) {
      EXPECT_LE(row.training, 201) << row.change;
    }
  }
  EXPECT_NEAR(use.what_if.front().training, 100, 1e-6);
}

TEST(StageUse, StorageHasACeilingAndACure) {
  const LoaderUse use = FindUse({.read = 1, .input = 9, .samples = 1000, .consumer_wait = 9});
  ASSERT_EQ(use.stages.front().stage, Stage::kInput);
  EXPECT_NEAR(*use.stages.front().ceiling, 1e8 / 101'016, 0.1);
  EXPECT_THAT(use.stages.front().next, HasSubstr("--cache records"));
  EXPECT_LE(Row(use, "4 threads").loader, 1.01 * 2e8 / 101'016);
}

TEST(StageUse, WhatWasInMemoryIsNotHeldToStorage) {
  // 1,000 records of 101 kB in 0.1 s: ten times the storage ceiling.
  const LoaderUse use =
      FindUse({.read = 9.9, .input = 0.1, .samples = 1000, .consumer_wait = 9.99});
  ASSERT_EQ(use.stages.back().stage, Stage::kInput);
  EXPECT_NEAR(*use.stages.back().ceiling, 2e10 / 101'016, 1);
  EXPECT_THAT(use.stages.back().next, Not(HasSubstr("--cache records")));
  EXPECT_GT(Row(use, "4 threads").loader, 350);
  Ceilings slow = Known();
  slow.rates[0].one.value = slow.rates[0].all.value = 1e6;
  EXPECT_GT(Row(FindUse({.read = 9.9, .input = 0.1, .samples = 1000, .consumer_wait = 9.99}, slow),
                "4 threads")
                .loader,
            350);
}

TEST(StageUse, WorkersThatWaitForRoomAreNoBottleneck) {
  const LoaderUse use = FindUse({.decode = 2, .room = 8, .consumer_wait = 0});
  EXPECT_THAT(use.next, HasSubstr("wait 80 % of their time for a free slot"));
  EXPECT_THAT(use.stages, Not(Contains(Field(&StageUse::stage, Stage::kRoom))));
}

TEST(StageUse, NumbersOfThreadsEndWithTheCores) {
  Ceilings three = Known();
  three.cores = 3;
  const LoaderUse use = FindUse({.decode = 10}, three);
  Row(use, "3 threads");
  for (const WhatIf& row : use.what_if) EXPECT_THAT(row.change, Not(HasSubstr("4 threads")));
}

TEST(StageUse, WhatIsNotMeasuredIsUnavailableInJson) {
  Ceilings none = Known();
  none.rates.clear();
  const auto told =
      nlohmann::json::parse(LoaderUseJson(FindUse({.decode = 5, .read = 3, .input = 2}, none)));
  for (const auto& stage : told["stages"]) {
    EXPECT_TRUE(stage["ceiling"].contains("unavailable")) << stage;
    EXPECT_TRUE(stage["ceiling_share"].contains("unavailable")) << stage;
    EXPECT_TRUE(stage["rate"].is_number()) << stage;
  }
  for (const auto& row : told["what_if"]) EXPECT_GE(row["training_per_s"], 0) << row;
}

}  // namespace
}  // namespace recpack::probe
