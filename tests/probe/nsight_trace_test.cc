#include "src/probe/events/nsight_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/steps/steps.h"
#include "src/probe/steps/trace_summary.h"
#include "tests/golden.h"
#include "tests/probe/whole_trace.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string NsightPath() { return GoldenPath("nsight/two_gpus.sqlite"); }

size_t CountKind(const WholeTrace& trace, EventKind kind) {
  return static_cast<size_t>(
      std::count_if(trace.events.begin(), trace.events.end(),
                    [kind](const TimedEvent& event) { return event.event.kind == kind; }));
}

// Returns the error's message.
std::string NsightRefusal(const std::string& path, ErrorKind kind) {
  try {
    ReadWhole(ReadNsightTrace, path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "it was read";
}

TEST(NsightTraceTest, ReadsAllThatDevicesAndHostsDid) {
  const WholeTrace trace = ReadWhole(ReadNsightTrace, NsightPath());
  EXPECT_EQ(CountKind(trace, EventKind::kDevice), 12u * 2 * 3);
  EXPECT_EQ(CountKind(trace, EventKind::kCollective), 12u * 2);
  EXPECT_EQ(CountKind(trace, EventKind::kCopy), 12u * 2 * 3);
  EXPECT_EQ(CountKind(trace, EventKind::kHost), 12u);
  EXPECT_EQ(CountKind(trace, EventKind::kRange), 11u + 1);
  EXPECT_EQ(trace.passed_over, 12u + 1);  // queries, and the range that has no end
  EXPECT_EQ(trace.base_time, 1'780'000'000'000'000'000);
  EXPECT_THAT(trace.devices, ElementsAre("NVIDIA H100", "NVIDIA H100"));
  for (const TimedEvent& event : trace.events) EXPECT_EQ(event.process, 4711);
  const auto call =
      std::find_if(trace.events.begin(), trace.events.end(),
                   [](const TimedEvent& event) { return event.event.kind == EventKind::kHost; });
  EXPECT_EQ(call->name, "cudaLaunchKernel");
  EXPECT_EQ(call->event.lane, 4712u);
}

TEST(NsightTraceTest, AnswersWhatCostsAndHowBusyDevicesAre) {
  const TraceSummary summary = Summarise(ReadWhole(ReadNsightTrace, NsightPath()).events);
  std::vector<std::string> names;
  for (const TraceRow& row : summary.tables.at(0).rows) names.push_back(row.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "convolution backward data", "convolution backward weights", "collective",
                         "convolution forward", "copy HtoD", "copy PtoP", "fill"));
  const auto& rows = summary.tables.at(1).rows;
  const auto peers = std::find_if(rows.begin(), rows.end(), [](const TraceRow& row) {
    return row.name == "[CUDA memcpy PtoP]";
  });
  ASSERT_NE(peers, rows.end());
  EXPECT_EQ(peers->calls, 24u);
  EXPECT_EQ(peers->min, 20'000);
  EXPECT_EQ(peers->max, 31'000);
  EXPECT_EQ(peers->average(), 25'500);
  EXPECT_EQ(peers->bytes, 24u * 65'536);
  ASSERT_THAT(summary.devices, SizeIs(2));
  EXPECT_EQ(summary.devices[1].streams, 2u);
  // Within the 550 us of kernels of a step, the exchange runs beside the gradients of weights for
  // 100 us.
  ASSERT_THAT(summary.devices[1].at_once, SizeIs(3));
  EXPECT_EQ(summary.devices[1].at_once[1], 12 * 450'000);
  EXPECT_EQ(summary.devices[1].at_once[2], 12 * 100'000);
}

TEST(NsightTraceTest, StepsAreItsRanges) {
  const auto trainers = FindSteps(ReadWhole(ReadNsightTrace, NsightPath()).events, 20'000'000);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_EQ(trainers[0].source, TrainerSteps::Source::kMarked);
  EXPECT_THAT(trainers[0].steps, SizeIs(11));
}

class DamagedNsightTest : public testing::Test {
 protected:
  DamagedNsightTest() : path_(format("{}recprobe-nsight-{}", testing::TempDir(), ::getpid())) {}
  ~DamagedNsightTest() override { fs::remove(path_); }

  const std::string path_;
};

TEST_F(DamagedNsightTest, WhatWasCutIsRefused) {
  std::ifstream file(NsightPath(), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  for (size_t size = 1'024; size < all.size(); size += 997) {
    std::ofstream(path_, std::ios::binary) << all.substr(0, size);
    EXPECT_THAT(NsightRefusal(path_, ErrorKind::kCorrupt), HasSubstr("SQLite: ")) << size;
  }
}

TEST_F(DamagedNsightTest, AnotherDatabaseIsRefused) {
  fs::copy_file(NsightPath(), path_);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(file)), {});
  for (size_t at = 0; (at = all.find("StringIds", at)) != std::string::npos;) all[at] = 'T';
  file.seekp(0);
  file << all;
  file.close();
  EXPECT_THAT(NsightRefusal(path_, ErrorKind::kUnsupported), HasSubstr("nsys export"));
}

TEST_F(DamagedNsightTest, AMissingFileIsNamed) {
  EXPECT_THAT(NsightRefusal(path_, ErrorKind::kNotFound), HasSubstr(path_));
}

}  // namespace
}  // namespace recpack::probe
