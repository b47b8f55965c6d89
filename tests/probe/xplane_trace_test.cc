#include "src/probe/events/xplane_trace.h"

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
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<TimedEvent> EventsOfKind(const WholeTrace& trace, EventKind kind) {
  std::vector<TimedEvent> events;
  std::copy_if(trace.events.begin(), trace.events.end(), std::back_inserter(events),
               [kind](const TimedEvent& event) { return event.event.kind == kind; });
  return events;
}

TEST(XPlaneTraceTest, ReadsARealOneOfTheCpu) {
  const WholeTrace trace = ReadWhole(ReadXPlaneTrace, GoldenPath("xplane/cpu.xplane.pb"));
  const auto steps = EventsOfKind(trace, EventKind::kStep);
  ASSERT_THAT(steps, SizeIs(12));
  EXPECT_EQ(steps[0].event.value, 0u);
  EXPECT_EQ(steps[11].event.value, 11u);
  EXPECT_GT(trace.base_time, 1'700'000'000'000'000'000);
  const auto waits = EventsOfKind(trace, EventKind::kInputWait);
  ASSERT_THAT(waits, SizeIs(12));
  for (size_t i = 0; i < waits.size(); ++i) {
    EXPECT_EQ(waits[i].event.lane, steps[i].event.lane);
    EXPECT_GE(waits[i].event.begin, steps[i].event.begin);
    EXPECT_LE(waits[i].event.end, steps[i].event.end);
  }
  EXPECT_GT(trace.passed_over, 100u);
}

TEST(XPlaneTraceTest, OperationsOfTheCpuAreClassified) {
  const TraceSummary summary =
      Summarise(ReadWhole(ReadXPlaneTrace, GoldenPath("xplane/cpu.xplane.pb")).events);
  std::vector<std::string> names;
  for (const TraceRow& row : summary.tables.at(1).rows) names.push_back(row.name);
  EXPECT_THAT(names, Contains("convolution forward Conv2D:_MklNativeConv2D"));
  EXPECT_THAT(names, Contains("convolution backward weights gradient_tape/Conv2DBackpropFilter:"
                              "_MklNativeConv2DBackpropFilter"));
  EXPECT_THAT(names, Contains("matrix product matmul:_MklMatMul"));
  for (const TraceRow& row : summary.tables.at(1).rows) EXPECT_EQ(row.calls, 12u) << row.name;
  ASSERT_THAT(summary.devices, SizeIs(1));
  EXPECT_EQ(summary.devices[0].device, 0);
}

TEST(XPlaneTraceTest, ReadsARealOneOfJax) {
  const WholeTrace trace = ReadWhole(ReadXPlaneTrace, GoldenPath("xplane/jax.xplane.pb"));
  EXPECT_THAT(EventsOfKind(trace, EventKind::kStep), SizeIs(12));
  std::vector<std::string> classes;
  const TraceSummary summary = Summarise(trace.events);
  for (const TraceRow& row : summary.tables.at(0).rows) classes.push_back(row.name);
  EXPECT_THAT(classes,
              testing::UnorderedElementsAre("matrix product", "elementwise", "broadcasting"));
}

TEST(XPlaneTraceTest, StreamsOfGpusAreReadAndWhatIsDerivedIsNot) {
  const WholeTrace trace = ReadWhole(ReadXPlaneTrace, GoldenPath("xplane/gpu.xplane.pb"));
  EXPECT_THAT(trace.devices, ElementsAre("GPU:1"));
  const auto kernels = EventsOfKind(trace, EventKind::kDevice);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].event.device, 1);
  EXPECT_EQ(kernels[0].event.lane, 13u);
  EXPECT_EQ(kernels[0].event.begin, 1'780'000'000'000'100'000);
  EXPECT_EQ(kernels[0].event.end - kernels[0].event.begin, 300'000);
  EXPECT_THAT(EventsOfKind(trace, EventKind::kCollective), SizeIs(2));
  const auto copies = EventsOfKind(trace, EventKind::kCopy);
  ASSERT_THAT(copies, SizeIs(6));
  EXPECT_EQ(copies[0].event.copy, CopyKind::kHostToDevice);
  EXPECT_EQ(copies[0].event.value, 4096u);
  EXPECT_EQ(copies[1].name, "Memset");
  EXPECT_EQ(copies[2].event.copy, CopyKind::kPeerToPeer);
  EXPECT_EQ(copies[2].event.value, 512u);
  EXPECT_EQ(trace.passed_over, 2u + 2);  // derived lines, and operations of the host
  const auto trainers = FindSteps(trace.events, trace.events.back().event.end);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_TRUE(trainers[0].device_seen);
}

class DamagedXPlaneTest : public testing::Test {
 protected:
  DamagedXPlaneTest() : path_(format("{}recprobe-xplane-{}", testing::TempDir(), ::getpid())) {}
  ~DamagedXPlaneTest() override { fs::remove(path_); }

  // Returns the error's message.
  std::string Refusal(const std::string& bytes, ErrorKind kind) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      ReadWhole(ReadXPlaneTrace, path_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    return "it was read";
  }

  const std::string path_;
};

TEST_F(DamagedXPlaneTest, EveryPrefixThatCutsAPlaneIsRefused) {
  std::ifstream file(GoldenPath("xplane/gpu.xplane.pb"), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  size_t read = 0;  // prefixes that end with a plane
  for (size_t size = 1; size < all.size(); ++size) {
    std::ofstream(path_, std::ios::binary) << all.substr(0, size);
    try {
      ReadWhole(ReadXPlaneTrace, path_);
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << size;
      EXPECT_THAT(error.what(), HasSubstr(path_));
    }
  }
  EXPECT_EQ(read, 1u);
}

TEST_F(DamagedXPlaneTest, WhatIsNoXSpaceIsRefused) {
  EXPECT_THAT(Refusal("", ErrorKind::kUnsupported), HasSubstr("without planes"));
  EXPECT_THAT(Refusal("\x0a\xff", ErrorKind::kCorrupt), HasSubstr("not an XSpace"));
  EXPECT_THAT(Refusal("\x0b", ErrorKind::kCorrupt), HasSubstr("not an XSpace"));
  EXPECT_THAT(Refusal(std::string("\x0a\x02\x1a\x05", 4), ErrorKind::kCorrupt),
              HasSubstr("not an XSpace"));
}

TEST_F(DamagedXPlaneTest, AMissingFileIsNamed) {
  try {
    ReadWhole(ReadXPlaneTrace, path_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr(path_));
  }
}

}  // namespace
}  // namespace recpack::probe
