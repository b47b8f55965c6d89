#include "src/probe/events/kineto_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/evidence/traced_settings.h"
#include "tests/golden.h"
#include "tests/probe/whole_trace.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Golden(const std::string& name) { return GoldenPath("kineto/" + name); }

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

std::vector<TimedEvent> Of(const WholeTrace& trace, EventKind kind) {
  std::vector<TimedEvent> events;
  std::copy_if(trace.events.begin(), trace.events.end(), std::back_inserter(events),
               [kind](const TimedEvent& event) { return event.event.kind == kind; });
  return events;
}

class KinetoTraceTest : public testing::Test {
 protected:
  KinetoTraceTest() : path_(format("{}recprobe-kineto-{}", testing::TempDir(), ::getpid())) {}
  ~KinetoTraceTest() override { fs::remove(path_); }

  WholeTrace Read(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return ReadWhole(ReadKinetoTrace, path_);
  }

  // Returns the error's message.
  std::string Refusal(const std::string& text, ErrorKind kind) const {
    try {
      Read(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "it was read";
  }

  const std::string path_;
};

TEST_F(KinetoTraceTest, ReadsARealOne) {
  const WholeTrace trace = ReadWhole(ReadKinetoTrace, Golden("cpu.json.gz"));
  const auto steps = Of(trace, EventKind::kStep);
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_EQ(steps[0].event.value, 1u);
  EXPECT_EQ(steps[2].event.value, 3u);
  const auto waits = Of(trace, EventKind::kInputWait);
  ASSERT_THAT(waits, SizeIs(3));
  EXPECT_EQ(waits[0].process, steps[0].process);
  EXPECT_EQ(waits[0].event.lane, steps[0].event.lane);
  EXPECT_EQ(waits[0].event.end - waits[0].event.begin, 168'411);
  EXPECT_GE(waits[0].event.begin, steps[0].event.begin);
  EXPECT_LE(waits[0].event.end, steps[0].event.end);
  const auto ranges = Of(trace, EventKind::kRange);
  EXPECT_EQ(std::count_if(ranges.begin(), ranges.end(),
                          [](const TimedEvent& event) { return event.name == "forward"; }),
            3);
  EXPECT_GT(trace.passed_over, 100u);
  EXPECT_GT(trace.base_time, 0);
}

TEST_F(KinetoTraceTest, ReadsWhatDevicesDid) {
  const WholeTrace trace = ReadWhole(ReadKinetoTrace, Golden("cuda.json"));
  const auto kernels = Of(trace, EventKind::kDevice);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_THAT(kernels[0].name, testing::StartsWith("void at::native::vectorized_"));
  EXPECT_EQ(kernels[0].event.device, 0);
  EXPECT_EQ(kernels[0].event.lane, 7u);
  EXPECT_EQ(kernels[0].event.begin, 260'125);
  EXPECT_EQ(kernels[0].event.end, 361'000);
  EXPECT_EQ(kernels[0].process, 4711);

  const auto collectives = Of(trace, EventKind::kCollective);
  ASSERT_THAT(collectives, SizeIs(1));
  EXPECT_EQ(collectives[0].event.value, 2000u);
  EXPECT_EQ(collectives[0].event.lane, 20u);

  const auto copies = Of(trace, EventKind::kCopy);
  ASSERT_THAT(copies, SizeIs(5));
  std::vector<CopyKind> kinds;
  std::vector<uint64_t> bytes;
  std::vector<int> devices;
  for (const TimedEvent& copy : copies) {
    kinds.push_back(copy.event.copy);
    bytes.push_back(copy.event.value);
    devices.push_back(copy.event.device);
  }
  EXPECT_THAT(kinds, ElementsAre(CopyKind::kHostToDevice, CopyKind::kNone, CopyKind::kPeerToPeer,
                                 CopyKind::kDeviceToDevice, CopyKind::kDeviceToHost));
  EXPECT_THAT(bytes, ElementsAre(786432, 1024, 4096, 512, 256));
  EXPECT_THAT(devices, ElementsAre(0, 0, 1, 1, 1));
}

TEST_F(KinetoTraceTest, ReadsWhatTheHostDid) {
  const WholeTrace trace = ReadWhole(ReadKinetoTrace, Golden("cuda.json"));
  const auto calls = Of(trace, EventKind::kHost);
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_EQ(calls[0].name, "cudaMemcpyAsync");
  EXPECT_EQ(calls[1].name, "cudaLaunchKernel");
  EXPECT_EQ(calls[1].event.end - calls[1].event.begin, 5000);
  EXPECT_EQ(calls[2].name, "cuLaunchKernel");
  EXPECT_EQ(calls[2].event.lane, 4712u);
  EXPECT_EQ(calls[2].event.device, Event::kNoDevice);
  const auto waits = Of(trace, EventKind::kInputWait);
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].event.end, 200'001);
  EXPECT_EQ(Of(trace, EventKind::kStep).at(0).event.value, 7u);
  EXPECT_EQ(Of(trace, EventKind::kRange).at(0).name, "Optimizer.step#SGD.step");
  // An operator, a query to CUDA, and the device's copies of the step and of a stream event.
  EXPECT_EQ(trace.passed_over, 4u);
}

TEST_F(KinetoTraceTest, ReadsWhoseItIs) {
  const WholeTrace trace = ReadWhole(ReadKinetoTrace, Golden("cuda.json"));
  EXPECT_THAT(trace.devices, ElementsAre("NVIDIA H200", "NVIDIA H200"));
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_EQ(trace.base_time, 1'780'000'000'000'000'000);
  EXPECT_TRUE(std::is_sorted(
      trace.events.begin(), trace.events.end(),
      [](const TimedEvent& a, const TimedEvent& b) { return a.event.begin < b.event.begin; }));
}

TEST_F(KinetoTraceTest, OlderOnesCountFrom1970InWholeMicroseconds) {
  const WholeTrace trace = Read(
      R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "Operator", "name":
      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "pid": 5, "tid": "6",
      "ts": 1623143089861123, "dur": 17}]})");
  ASSERT_THAT(trace.events, SizeIs(1));
  EXPECT_EQ(trace.events[0].event.kind, EventKind::kInputWait);
  EXPECT_EQ(trace.events[0].event.begin, 1'623'143'089'861'123'000);
  EXPECT_EQ(trace.events[0].event.end, 1'623'143'089'861'140'000);
  EXPECT_EQ(trace.base_time, 0);
}

TEST_F(KinetoTraceTest, TimesAreExact) {
  // A double would be off by 1/8 us.
  const auto begin_of = [this](const std::string& ts) {
    return Read(R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
        "ts": )" +
                ts + R"(, "dur": 0.001}]})")
        .events.at(0)
        .event;
  };
  EXPECT_EQ(begin_of("1623143089861123.457").begin, 1'623'143'089'861'123'457);
  EXPECT_EQ(begin_of("1623143089861123.457").end, 1'623'143'089'861'123'458);
  EXPECT_EQ(begin_of("12.5").begin, 12'500);
  EXPECT_EQ(begin_of("12.34567").begin, 12'345);
  EXPECT_EQ(begin_of("-3.25").begin, -3'250);
  EXPECT_EQ(begin_of("1.5e3").begin, 1'500'000);
}

TEST_F(KinetoTraceTest, EveryPrefixIsRefusedAsTooShort) {
  const std::string text = Bytes(Golden("cuda.json"));
  const size_t end = text.find_last_of('}');
  for (size_t size = 0; size < end; size += 37) {
    EXPECT_THAT(Refusal(text.substr(0, size), ErrorKind::kCorrupt),
                HasSubstr(format("it ends too early, after {} bytes", size)));
  }
}

TEST_F(KinetoTraceTest, APackedOneThatWasCutIsRefused) {
  const std::string packed = Bytes(Golden("cpu.json.gz"));
  EXPECT_THAT(Refusal(packed.substr(0, packed.size() / 2), ErrorKind::kCorrupt),
              HasSubstr("it ends too early"));
  std::string damaged = packed;
  damaged[damaged.size() / 2] ^= 0x10;
  EXPECT_THAT(Refusal(damaged, ErrorKind::kCorrupt), AllOf(HasSubstr(path_), HasSubstr("byte")));
}

TEST_F(KinetoTraceTest, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_THAT(Refusal("{\"traceEvents\": [{\"ph\": inf}]}", ErrorKind::kCorrupt),
              HasSubstr("invalid JSON at byte 25 of its text"));
  EXPECT_THAT(Refusal("PNG", ErrorKind::kCorrupt), HasSubstr("invalid JSON at byte 1 of its text"));
}

TEST_F(KinetoTraceTest, JsonOfAnotherKindIsRefused) {
  EXPECT_THAT(Refusal("[]", ErrorKind::kUnsupported), HasSubstr("it is a list"));
  EXPECT_THAT(Refusal("{\"a\": [1]}", ErrorKind::kUnsupported), HasSubstr("no \"traceEvents\""));
  EXPECT_THAT(Refusal(R"({"traceEvents": [{"ph": "X", "cat": "x", "name": "y", "ts": 1}]})",
                      ErrorKind::kUnsupported),
              HasSubstr("another program's"));
  EXPECT_THAT(Read(R"({"schemaVersion": 1, "traceEvents": []})").events, IsEmpty());
}

TEST_F(KinetoTraceTest, ATimeThatCannotBeIsRefused) {
  EXPECT_THAT(
      Refusal(R"({"traceEvents": [{"name": "k", "ts": 92233720368547758}]})", ErrorKind::kCorrupt),
      HasSubstr("event \"k\" has a time of 92233720368547758 us"));
  for (const char* beyond : {R"("ts": -4e15)", R"("ts": 1, "dur": 4e15)"}) {  // 127 years
    EXPECT_THAT(
        Refusal(format(R"({{"traceEvents": [{{"name": "k", {}}}]}})", beyond), ErrorKind::kCorrupt),
        HasSubstr("has a time of"))
        << beyond;
  }
}

TEST_F(KinetoTraceTest, ABaseTimeThatCannotBeAddedIsNone) {
  for (const char* base : {"9223372036854775807", "18446744073709551615"}) {
    EXPECT_LE(Read(format(R"({{"schemaVersion": 1, "baseTimeNanoseconds": {}, "traceEvents": []}})",
                          base))
                  .base_time,
              0);
  }
}

TEST_F(KinetoTraceTest, FieldsOfOtherTypesAreNone) {
  const WholeTrace trace = Read(R"({"schemaVersion": [1], "distributedInfo": 5,
      "deviceProperties": {"name": "x"}, "traceEvents": [
      {"ph": 1, "cat": "kernel", "name": {"name": 5}, "ts": 1},
      {"ph": "X", "cat": "kernel", "name": null, "ts": "1"}, [{"ph": "X"}], 7,
      {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": -5, "pid": "a", "args": [1, {}],
       "tid": 3}]})");
  ASSERT_THAT(trace.events, SizeIs(1));
  EXPECT_EQ(trace.events[0].name, "k");
  EXPECT_EQ(trace.events[0].event.end, 1000);
  EXPECT_EQ(trace.events[0].event.device, Event::kNoDevice);
  EXPECT_EQ(trace.events[0].event.lane, 3u);
}

TEST_F(KinetoTraceTest, AMissingFileIsNamed) {
  try {
    ReadWhole(ReadKinetoTrace, path_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr(path_));
  }
}

TEST(TracedSettings, AreThoseOfTheDataLoadersIterator) {
  const auto wait = [](int process, const char* name) {
    return TimedEvent{.event = {.kind = EventKind::kInputWait}, .process = process, .name = name};
  };
  TracedSettings traced;
  traced.Add({wait(3, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
              wait(4, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")});
  traced.Add({wait(5, "enumerate(DataLoader)#_Another.__next__")});
  const auto settings = traced.All();
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_TRUE(settings[0].workers_known);
  EXPECT_EQ(settings[0].workers, 0u);
  EXPECT_FALSE(settings[1].workers_known);
  EXPECT_EQ(settings[1].library, InputLibrary::kPyTorch);
}

}  // namespace
}  // namespace recpack::probe
