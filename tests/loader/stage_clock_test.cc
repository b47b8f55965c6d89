#include "src/loader/batch/stage_clock.h"

#include <gtest/gtest.h>

namespace recpack {
namespace {

// Fake clock that tests advance.
uint64_t now_ns = 0;
uint64_t switch_count = 0;
uint64_t Now() noexcept { return now_ns; }
uint64_t Switches() noexcept { return switch_count; }

class StageClockTest : public testing::Test {
 protected:
  StageClockTest() { now_ns = 0; }

  uint64_t Time(Stage stage) { return page_.blocks().worker(0).stages[At(stage)].time; }
  uint64_t Count(Stage stage) { return page_.blocks().worker(0).stages[At(stage)].count; }
  uint64_t Bytes(Stage stage) { return page_.blocks().worker(0).stages[At(stage)].bytes; }
  static size_t At(Stage stage) { return static_cast<size_t>(stage); }
  uint64_t Sum() {
    uint64_t sum = 0;
    for (size_t i = 0; i < kStages; ++i) sum += Time(static_cast<Stage>(i));
    return sum;
  }

  // Runs a chunk of samples that read, parse and write for the given times.
  void Chunk(int samples, uint64_t read, uint64_t parse, uint64_t write) {
    now_ns += 7;  // waiting for room
    clock_.BeginChunk();
    now_ns += 5;
    clock_.BeginSamples();
    for (int i = 0; i < samples; ++i) {
      clock_.BeginSample(0, static_cast<uint64_t>(i));
      now_ns += read;
      clock_.Enter(Stage::kParse, 10);
      now_ns += parse;
      clock_.Enter(Stage::kWrite, 100);
      now_ns += write;
      clock_.EndSample();
    }
    clock_.EndChunk();
  }

  StatsPage page_{{.workers = 1, .slots = 1, .batch_size = 1, .batch_bytes = 1}};
  WorkerBlock& block_ = (page_.blocks().worker(0).since = 0, page_.blocks().worker(0));
  StageClock clock_{block_, {Now, Switches}};
};

TEST_F(StageClockTest, LongSamplesAreAllTimed) {
  Chunk(2, 10'000, 2'000, 90'000);
  Chunk(3, 20'000, 3'000, 80'000);
  EXPECT_EQ(Time(Stage::kRead), 80'000u);
  EXPECT_EQ(Time(Stage::kParse), 13'000u);
  EXPECT_EQ(Time(Stage::kWrite), 420'000u);
  EXPECT_EQ(Time(Stage::kPlan), 10u);
  EXPECT_EQ(Time(Stage::kRoom), 14u);
  EXPECT_EQ(Count(Stage::kWrite), 5u);
  EXPECT_EQ(Bytes(Stage::kParse), 50u);
  EXPECT_EQ(Bytes(Stage::kWrite), 500u);
}

TEST_F(StageClockTest, ShortSamplesShareOutTheExactTime) {
  for (int i = 0; i < 100; ++i) Chunk(64, 300, 100, 600);
  EXPECT_EQ(Sum(), now_ns) << "no time is lost or invented";
  EXPECT_EQ(Time(Stage::kRoom), 700u);
  EXPECT_NEAR(static_cast<double>(Time(Stage::kRead)), 0.3 * 6'400'000, 2000);
  EXPECT_NEAR(static_cast<double>(Time(Stage::kParse)), 0.1 * 6'400'000, 2000);
  EXPECT_NEAR(static_cast<double>(Time(Stage::kWrite)), 0.6 * 6'400'000, 2000);
  EXPECT_EQ(Count(Stage::kRead), 6400u) << "counts are exact";
  EXPECT_EQ(Bytes(Stage::kWrite), 640'000u);
}

TEST_F(StageClockTest, SamplesThatBecomeLongAreTimedFromTheNextChunkOn) {
  for (int i = 0; i < 10; ++i) Chunk(8, 300, 100, 600);
  Chunk(8, 300, 100, 200'000);
  const uint64_t before = Time(Stage::kWrite);
  Chunk(8, 300, 100, 200'000);
  EXPECT_EQ(Time(Stage::kWrite) - before, 1'600'000u);
  EXPECT_EQ(Sum(), now_ns);
}

TEST_F(StageClockTest, AReadThatSleptWaitedForInput) {
  Chunk(1, 100'000, 1'000, 1'000);
  EXPECT_EQ(Time(Stage::kInput), 0u) << "it was long, and ran all the time";
  clock_.BeginChunk();
  clock_.BeginSamples();
  clock_.BeginSample(0, 0);
  now_ns += 70'000;
  ++switch_count;
  clock_.Enter(Stage::kParse);
  clock_.EndSample();
  clock_.EndChunk();
  EXPECT_EQ(Time(Stage::kInput), 70'000u);
  EXPECT_EQ(Count(Stage::kInput), 1u);
  EXPECT_EQ(Time(Stage::kRead), 100'000u);
}

TEST_F(StageClockTest, ASampleThatFailedLosesNoTime) {
  clock_.BeginChunk();
  clock_.BeginSamples();
  clock_.BeginSample(0, 3);
  now_ns += 60'000;
  clock_.EndChunk();  // the sample threw
  Chunk(1, 10'000, 2'000, 90'000);
  EXPECT_EQ(Sum(), now_ns);
  EXPECT_EQ(Time(Stage::kRead), 10'000u);
}

}  // namespace
}  // namespace recpack
