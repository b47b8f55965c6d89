#include "src/probe/steps/trace_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "src/probe/events/kineto_trace.h"
#include "tests/golden.h"
#include "tests/probe/whole_trace.h"

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TimedEvent On(int device, EventKind kind, std::string name, int64_t begin, int64_t end,
              CopyKind copy = CopyKind::kNone, uint64_t value = 0) {
  return {.event = {.kind = kind,
                    .copy = copy,
                    .device = static_cast<uint16_t>(device),
                    .begin = begin,
                    .end = end,
                    .value = value},
          .process = 1,
          .name = std::move(name)};
}

TimedEvent Kernel(std::string name, int64_t begin, int64_t end) {
  return On(0, EventKind::kDevice, std::move(name), begin, end);
}

TimedEvent Copy(CopyKind kind, int64_t begin, int64_t end, uint64_t bytes = 0) {
  return On(0, EventKind::kCopy, "Memset", begin, end, kind, bytes);
}

const TraceTable& TableOf(const TraceSummary& summary, const std::string& title) {
  for (const TraceTable& table : summary.tables) {
    if (table.title == title) return table;
  }
  throw std::runtime_error("no table " + title);
}

TEST(TraceSummaryTest, NothingIsNothing) {
  const TraceSummary summary = Summarise({});
  EXPECT_THAT(summary.tables, IsEmpty());
  EXPECT_THAT(summary.devices, IsEmpty());
}

TEST(TraceSummaryTest, AddsUpCallsByName) {
  const TraceSummary summary = Summarise(
      {Kernel("a", 0, 10), Kernel("b", 10, 100), Kernel("a", 100, 130), Kernel("c", 130, 170)});
  const TraceTable& table = TableOf(summary, "Device activities");
  EXPECT_EQ(table.time, 170);
  EXPECT_THAT(table.rows, ElementsAre(TraceRow{"b", 90, 1, 90, 90, 0, "other"},
                                      TraceRow{"a", 40, 2, 10, 30, 0, "other"},
                                      TraceRow{"c", 40, 1, 40, 40, 0, "other"}));
  EXPECT_EQ(table.rows[1].average(), 20.0);
}

TEST(TraceSummaryTest, NamesAreAsManyAsPeopleRead) {
  std::vector<TimedEvent> events;
  for (int i = 0; i < 1500; ++i) {
    events.push_back(
        On(Event::kNoDevice, EventKind::kRange, "step " + std::to_string(i), 0, 2000 - i));
  }
  const TraceTable table = Summarise(events).tables.at(0);
  ASSERT_THAT(table.rows, SizeIs(1001));
  EXPECT_EQ(table.rows[999].name, "step 999");
  const TraceRow& others = table.rows.back();
  EXPECT_EQ(others.name, "[500 other names]");
  EXPECT_EQ(others.calls, 500u);
  EXPECT_EQ(others.min, 501);
  EXPECT_EQ(others.max, 1000);
  int64_t time = 0;
  for (const TraceRow& row : table.rows) time += row.time;
  EXPECT_EQ(time, table.time);
}

TEST(TraceSummaryTest, CopiesAreByKindWithTheirBytes) {
  const TraceSummary summary = Summarise(
      {Copy(CopyKind::kHostToDevice, 0, 50, 100), Copy(CopyKind::kHostToDevice, 60, 70, 5),
       Copy(CopyKind::kDeviceToHost, 70, 75, 7), Copy(CopyKind::kDeviceToDevice, 80, 84, 8),
       Copy(CopyKind::kPeerToPeer, 90, 93, 9), Copy(CopyKind::kNone, 95, 97, 2)});
  EXPECT_THAT(TableOf(summary, "Device activities").rows,
              ElementsAre(TraceRow{"[CUDA memcpy HtoD]", 60, 2, 10, 50, 105, "copy HtoD"},
                          TraceRow{"[CUDA memcpy DtoH]", 5, 1, 5, 5, 7, "copy DtoH"},
                          TraceRow{"[CUDA memcpy DtoD]", 4, 1, 4, 4, 8, "copy DtoD"},
                          TraceRow{"[CUDA memcpy PtoP]", 3, 1, 3, 3, 9, "copy PtoP"},
                          TraceRow{"[Memset]", 2, 1, 2, 2, 2, "fill"}));
}

TEST(TraceSummaryTest, OperationsAreTheClassesOfAllNames) {
  const TraceSummary summary = Summarise(
      {Kernel("sm80_xmma_dgrad_a", 0, 10), Kernel("sm80_xmma_dgrad_b", 10, 40),
       Kernel("mystery", 40, 45), On(0, EventKind::kCollective, "ncclDevKernel_X", 45, 47),
       Copy(CopyKind::kPeerToPeer, 47, 50, 9), Copy(CopyKind::kPeerToPeer, 50, 51, 2)});
  EXPECT_THAT(
      TableOf(summary, "Operations").rows,
      ElementsAre(TraceRow{"convolution backward data", 40, 2, 10, 30, 0, ""},
                  TraceRow{"other", 5, 1, 5, 5, 0, ""}, TraceRow{"copy PtoP", 4, 2, 1, 3, 11, ""},
                  TraceRow{"collective", 2, 1, 2, 2, 0, ""}));
  EXPECT_EQ(summary.tables[0].time, 51);
}

TEST(TraceSummaryTest, CollectivesCallsAndRangesHaveTablesOfTheirOwn) {
  TimedEvent call = On(Event::kNoDevice, EventKind::kHost, "cudaLaunchKernel", 0, 3);
  TimedEvent range = On(Event::kNoDevice, EventKind::kRange, "forward", 0, 100);
  const TraceSummary summary =
      Summarise({Kernel("k", 0, 10), On(0, EventKind::kCollective, "ncclAll", 10, 30), call, range,
                 On(Event::kNoDevice, EventKind::kStep, "", 0, 100),
                 On(Event::kNoDevice, EventKind::kInputWait, "", 0, 9)});
  std::vector<std::string> titles;
  std::vector<size_t> rows;
  for (const TraceTable& table : summary.tables) {
    titles.push_back(table.title);
    rows.push_back(table.rows.size());
  }
  EXPECT_THAT(titles,
              ElementsAre("Operations", "Device activities", "NCCL", "CUDA calls", "Ranges"));
  EXPECT_THAT(rows, ElementsAre(2, 2, 1, 1, 1));
  EXPECT_THAT(summary.devices, SizeIs(1));
}

TEST(TraceSummaryTest, WhatHasNotEndedDoesNotCount) {
  TimedEvent open = Kernel("k", 5, 0);
  open.event.open = true;
  EXPECT_THAT(Summarise({open, Kernel("k", 9, 2)}).tables, IsEmpty());
}

TEST(DeviceUseTest, KernelsAtOnceCountOnce) {
  const DeviceUse use = Summarise({Kernel("a", 100, 200), Kernel("b", 150, 250),
                                   Kernel("c", 160, 170), Kernel("d", 300, 400)})
                            .devices.at(0);
  EXPECT_EQ(use.process, 1);
  EXPECT_EQ(use.device, 0);
  EXPECT_EQ(use.duration(), 300);
  EXPECT_EQ(use.kernels, 250);
  EXPECT_EQ(use.idle, 50);
  EXPECT_EQ(use.utilisation(), 250.0 / 300);
  EXPECT_THAT(use.longest, ElementsAre(DeviceGap{250, 300}));
}

TEST(DeviceUseTest, TimesAreKeptByKernelsAtOnce) {
  TimedEvent beside = Kernel("b", 20, 60);
  beside.event.lane = 7;
  const DeviceUse use =
      Summarise({Copy(CopyKind::kHostToDevice, 0, 10), Kernel("a", 10, 50), beside,
                 On(0, EventKind::kCollective, "ncclAll", 40, 45), Kernel("c", 60, 70),
                 Kernel("nothing", 65, 65), Copy(CopyKind::kDeviceToHost, 90, 100)})
          .devices.at(0);
  EXPECT_THAT(use.at_once, ElementsAre(10 + 30, 10 + 10 + 10, 20 + 5, 5));
  EXPECT_EQ(use.kernel_times, 95);
  EXPECT_EQ(use.mean_at_once(), 95.0 / 60);
  EXPECT_EQ(use.concurrency(), 0.3);
  EXPECT_EQ(use.streams, 2u);
}

TEST(DeviceUseTest, MoreKernelsAtOnceThanAnyoneCountsAreTheLast) {
  std::vector<TimedEvent> events(40, Kernel("k", 0, 10));
  events.push_back(Kernel("k", 10, 11));
  const DeviceUse use = Summarise(events).devices.at(0);
  ASSERT_THAT(use.at_once, SizeIs(DeviceUse::kMostAtOnce + 1));
  EXPECT_EQ(use.at_once.back(), 10);
  EXPECT_EQ(use.at_once[1], 1);
  EXPECT_EQ(use.mean_at_once(), 401.0 / 11);
}

TEST(DeviceUseTest, AnyWorkEndsAGap) {
  const DeviceUse use = Summarise({Kernel("a", 0, 10), Copy(CopyKind::kHostToDevice, 20, 30),
                                   Copy(CopyKind::kNone, 25, 40), Kernel("b", 50, 60)})
                            .devices.at(0);
  EXPECT_THAT(use.longest, ElementsAre(DeviceGap{10, 20}, DeviceGap{40, 50}));
  EXPECT_EQ(use.idle, 20);
  EXPECT_EQ(use.copies, 20);
  EXPECT_EQ(use.covered_copies, 0);
  EXPECT_EQ(use.kernels, 20);
}

TEST(DeviceUseTest, CopiesAreCoveredWhileAnyKernelRuns) {
  const DeviceUse use =
      Summarise({Kernel("a", 0, 10), On(0, EventKind::kCollective, "ncclAll", 20, 40),
                 Copy(CopyKind::kHostToDevice, 5, 25), Copy(CopyKind::kDeviceToHost, 24, 30)})
          .devices.at(0);
  EXPECT_EQ(use.copies, 25);
  EXPECT_EQ(use.covered_copies, 15);
  EXPECT_EQ(use.overlap(), 0.6);
  EXPECT_EQ(use.compute, 10);
  EXPECT_EQ(use.kernels, 30);
  EXPECT_EQ(use.uncovered_exchange, 20);
}

TEST(DeviceUseTest, ExchangeIsCoveredByComputeOnly) {
  const DeviceUse use = Summarise({Kernel("a", 0, 30), Kernel("b", 50, 60),
                                   On(0, EventKind::kCollective, "ncclAll", 20, 55),
                                   Copy(CopyKind::kDeviceToDevice, 30, 50)})
                            .devices.at(0);
  EXPECT_EQ(use.uncovered_exchange, 20);
}

TEST(DeviceUseTest, GapsOfAnyLengthAreCounted) {
  std::vector<TimedEvent> events = {Kernel("k", 0, 1)};
  int64_t at = 1;
  for (const int64_t gap : {int64_t{1}, int64_t{9'999}, int64_t{10'000}, int64_t{99'999'999},
                            int64_t{600'000'000}, int64_t{5'000'000'000}}) {
    events.push_back(Kernel("k", at + gap, at + gap + 1));
    at += gap + 1;
  }
  const DeviceUse use = Summarise(events, 2).devices.at(0);
  std::vector<uint64_t> gaps;
  for (const auto& gap_class : use.gaps) gaps.push_back(gap_class.gaps);
  EXPECT_THAT(gaps, ElementsAre(2, 1, 0, 0, 1, 1, 1));
  EXPECT_EQ(use.gaps[0].time, 10'000);
  ASSERT_THAT(use.longest, SizeIs(2));
  EXPECT_EQ(use.longest[0].end - use.longest[0].begin, 5'000'000'000);
  EXPECT_EQ(use.idle + use.kernels, use.duration());
}

TEST(DeviceUseTest, DevicesAndProcessesAreApart) {
  TimedEvent other = Kernel("k", 0, 10);
  other.process = 2;
  const TraceSummary summary =
      Summarise({On(1, EventKind::kDevice, "k", 0, 4), other, Kernel("k", 0, 7)});
  ASSERT_THAT(summary.devices, SizeIs(3));
  EXPECT_EQ(summary.devices[0].kernels, 7);
  EXPECT_EQ(summary.devices[1].kernels, 4);
  EXPECT_EQ(summary.devices[1].device, 1);
  EXPECT_EQ(summary.devices[2].kernels, 10);
  EXPECT_EQ(summary.devices[2].process, 2);
}

TEST(DeviceUseTest, ATraceOfPyTorch) {
  const WholeTrace trace = ReadWhole(ReadKinetoTrace, GoldenPath("kineto/cuda.json"));
  const DeviceUse use = Summarise(trace.events).devices.at(0);
  EXPECT_EQ(use.begin, 210'000);
  EXPECT_EQ(use.end, 390'000);
  EXPECT_EQ(use.kernels, 129'875);
  EXPECT_EQ(use.copies, 41'000);
  EXPECT_EQ(use.covered_copies, 0);
  EXPECT_EQ(use.uncovered_exchange, 29'000);
  EXPECT_EQ(use.idle, 1'000 + 8'125);
}

// Activities of one device, of all kinds, at small times.
std::vector<TimedEvent> DrawActivities(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<TimedEvent> events;
  for (size_t i = 0; i < count; ++i) {
    const int64_t begin = static_cast<int64_t>(random() % 3000);
    const int64_t end = begin + static_cast<int64_t>(random() % 30);  // some are empty
    switch (random() % 3) {
      case 0:
        events.push_back(Kernel("k", begin, end));
        break;
      case 1:
        events.push_back(On(0, EventKind::kCollective, "ncclAll", begin, end));
        break;
      default:
        events.push_back(Copy(CopyKind::kHostToDevice, begin, end));
    }
  }
  return events;
}

TEST(DeviceUseTest, SumsAreThoseOfEachNanosecond) {
  for (const uint32_t seed : {1u, 2u, 3u, 4u, 5u}) {
    const std::vector<TimedEvent> events = DrawActivities(seed, 40 * seed);
    const DeviceUse use = Summarise(events).devices.at(0);
    DeviceUse counted;
    counted.at_once.resize(use.at_once.size());
    for (int64_t at = use.begin; at < use.end; ++at) {
      size_t compute = 0, exchange = 0, copies = 0;
      for (const TimedEvent& timed : events) {
        if (timed.event.begin > at || timed.event.end <= at) continue;
        ++(timed.event.kind == EventKind::kCopy         ? copies
           : timed.event.kind == EventKind::kCollective ? exchange
                                                        : compute);
      }
      counted.kernels += compute + exchange > 0 ? 1 : 0;
      counted.compute += compute > 0 ? 1 : 0;
      counted.copies += copies > 0 ? 1 : 0;
      counted.covered_copies += copies > 0 && compute + exchange > 0 ? 1 : 0;
      counted.uncovered_exchange += exchange > 0 && compute == 0 ? 1 : 0;
      counted.idle += compute + exchange + copies == 0 ? 1 : 0;
      ++counted.at_once.at(compute + exchange);
    }
    EXPECT_EQ(use.kernels, counted.kernels);
    EXPECT_EQ(use.compute, counted.compute);
    EXPECT_EQ(use.copies, counted.copies);
    EXPECT_EQ(use.covered_copies, counted.covered_copies);
    EXPECT_EQ(use.uncovered_exchange, counted.uncovered_exchange);
    EXPECT_EQ(use.idle, counted.idle);
    EXPECT_EQ(use.at_once, counted.at_once);
    int64_t gaps = 0;
    for (const DeviceUse::GapClass& gap_class : use.gaps) gaps += gap_class.time;
    EXPECT_EQ(gaps, counted.idle);
  }
}

TEST(DeviceUseTest, PartsInOrderOfTimeSumUpAsAllAtOnce) {
  std::vector<TimedEvent> events = DrawActivities(7, 5000);
  const DeviceUse whole = Summarise(events).devices.at(0);
  std::ranges::sort(events, {}, [](const TimedEvent& timed) { return timed.event.begin; });
  TraceSums sums;
  for (size_t at = 0; at < events.size(); at += 100) {
    sums.Add({events.begin() + static_cast<ptrdiff_t>(at),
              events.begin() + static_cast<ptrdiff_t>(at + 100)});
    sums.Settle(events[at + 99].event.begin);
  }
  const DeviceUse use = sums.Take().devices.at(0);
  EXPECT_EQ(use.end, whole.end);
  EXPECT_EQ(use.kernels, whole.kernels);
  EXPECT_EQ(use.covered_copies, whole.covered_copies);
  EXPECT_EQ(use.idle, whole.idle);
  EXPECT_EQ(use.at_once, whole.at_once);
  EXPECT_EQ(use.longest, whole.longest);
}

TEST(TraceTextTest, HasTheFamiliarForm) {
  TraceTable table = {.title = "Device activities", .time = 4'000'000'000};
  table.rows = {{"kernel", 3'000'000'000, 4, 1'500, 2'999'998'500, 0},
                {"[CUDA memcpy HtoD]", 1'000'000'000, 2, 999, 999'999'001, 5}};
  EXPECT_EQ(TraceTableText(table),
            "Device activities:\n"
            " Time(%)        Time     Calls         Avg         Min         Max  Name\n"
            "  75.00%     3.0000s         4    750.00ms    1.5000us     3.0000s  kernel\n"
            "  25.00%     1.0000s         2    500.00ms       999ns   1000.00ms  "
            "[CUDA memcpy HtoD]\n");
  EXPECT_THAT(TraceTableText(table, 1), HasSubstr("... and 1 more names"));
}

TEST(TraceTextTest, ClassesOfOperationsAreAColumn) {
  TraceTable table = {.title = "Device activities", .time = 4'000};
  table.rows = {{"kernel", 3'000, 1, 3'000, 3'000, 0, "matrix product"},
                {"copy HtoD of a batch", 1'000, 1, 1'000, 1'000, 5, "copy HtoD"}};
  EXPECT_EQ(TraceTableText(table),
            "Device activities:\n"
            " Time(%)        Time     Calls         Avg         Min         Max  "
            "Operation       Name\n"
            "  75.00%    3.0000us         1    3.0000us    3.0000us    3.0000us  "
            "matrix product  kernel\n"
            "  25.00%    1.0000us         1    1.0000us    1.0000us    1.0000us  "
            "copy HtoD       of a batch\n");
}

}  // namespace
}  // namespace recpack::probe
