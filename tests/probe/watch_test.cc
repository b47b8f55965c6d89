#include "src/probe/live/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "recpack/base/event_record.h"
#include "src/probe/causes/decide.h"
#include "src/probe/events/hook_ranges.h"
#include "tests/base/temporary_folder.h"
#include "tests/probe/scripted_nvml.h"
#include "tests/probe/sleeper.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// An event file of a process.
void Tell(const TemporaryFolder& folder, int process, const std::vector<EventRecord>& records) {
  std::ofstream file(folder / (std::to_string(process) + "-test.events"),
                     std::ios::binary | std::ios::app);
  for (const EventRecord& record : records) {
    file.write(reinterpret_cast<const char*>(&record), sizeof(record));
  }
}

std::vector<EventRecord> Steps(int process, int count) {
  std::vector<EventRecord> records = {ProcessRecord(process)};
  for (int64_t i = 0; i < count; ++i) {
    records.push_back(ToRecord({.kind = EventKind::kStep,
                                .device = 0,
                                .lane = 1,
                                .begin = 1000 * i,
                                .end = 1000 * (i + 1)}));
  }
  return records;
}

TEST(Watch, GpusThatTheProgramUsesAreInTheEvidence) {
  const Sleeper sleeper;
  const ScriptedNvml nvml("devices 2\n*.utilization 30 10\n1.processes " +
                          std::to_string(sleeper.process()) + ":1\n0.processes 1:1\n");
  Watch watch({.roots = {sleeper.process()}, .gpus = ScriptedNvml::Options()});
  watch.Sample();
  const Evidence evidence = watch.Collected();
  EXPECT_TRUE(evidence.accelerators);
  ASSERT_THAT(evidence.gpus, Contains(testing::Field(&GpuUse::device, 1)));
  EXPECT_NEAR(*evidence.gpus.back().utilisation, 0.3, 1e-9);
}

TEST(Watch, AGpuThatIsLostIsSaidAndTheStepsStay) {
  const Sleeper sleeper;
  const TemporaryFolder folder;
  const std::string script =
      "devices 1\n0.utilization 30 10\n0.processes " + std::to_string(sleeper.process()) + ":1\n";
  const ScriptedNvml nvml(script);
  Watch watch(
      {.roots = {sleeper.process()}, .events = folder.path(), .gpus = ScriptedNvml::Options()});
  Tell(folder, sleeper.process(), Steps(sleeper.process(), 20));
  watch.Sample();
  nvml.Say(script + "fail * 15\n");
  watch.Sample();
  const Evidence evidence = watch.Collected();
  EXPECT_THAT(evidence.gpus, SizeIs(1));
  EXPECT_THAT(evidence.unseen, Contains(HasSubstr("GPU is lost")));
  ASSERT_THAT(evidence.trainers, SizeIs(1));
  EXPECT_THAT(evidence.trainers[0].steps, SizeIs(20));
}

TEST(Watch, WhatTheHookFoundOfTheInterpreterLock) {
  const Sleeper sleeper;
  const TemporaryFolder folder;
  auto records = Steps(sleeper.process(), 3);
  for (const EventRecord& name : NameRecords(1, kInterpreterLock)) records.push_back(name);
  for (const uint64_t held : {1'000'000u, 500'000u}) {
    records.push_back(ToRecord({.kind = EventKind::kRange,
                                .lane = 9,
                                .name = 1,
                                .begin = 0,
                                .end = 1'000'000'000,
                                .value = held}));
  }
  Tell(folder, sleeper.process(), records);
  Watch watch({.roots = {sleeper.process()}, .events = folder.path()});
  watch.Sample();
  const Evidence evidence = watch.Collected();
  ASSERT_THAT(evidence.locks, SizeIs(1));
  EXPECT_EQ(evidence.locks[0].process, sleeper.process());
  EXPECT_NEAR(evidence.locks[0].held, 0.75, 1e-9);
  EXPECT_NEAR(evidence.locks[0].seconds, 2, 1e-9);
}

// It told of a step long ago, by the machine's clock.
TEST(Watch, AProgramThatRunsAndTellsOfNothingIsSilent) {
  Sleeper sleeper;
  const TemporaryFolder folder;
  Tell(folder, sleeper.process(), Steps(sleeper.process(), 20));
  Watch watch({.roots = {sleeper.process()}, .events = folder.path()});
  watch.Sample();
  const auto silence = watch.Collected().silence;
  ASSERT_TRUE(silence);
  EXPECT_EQ(silence->since, 20'000);
  EXPECT_GT(silence->until, silence->since);
  EXPECT_FALSE(silence->in_input);
}

TEST(Watch, AProgramThatHasEndedBeforeTheFirstSample) {
  Sleeper sleeper;
  const int process = sleeper.process();
  sleeper.Kill();
  Watch watch({.roots = {process}});
  watch.Sample();
  const Evidence evidence = watch.Collected();
  EXPECT_THAT(evidence.trainers, IsEmpty());
  EXPECT_FALSE(evidence.system);
  EXPECT_FALSE(evidence.silence);
  EXPECT_EQ(Decide(evidence).band, Band::kUnknown);
}

}  // namespace
}  // namespace recpack::probe
