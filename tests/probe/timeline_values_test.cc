#include "src/probe/report/timeline_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "src/probe/live/timeline_sampler.h"

namespace recpack::probe {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::Not;
using testing::SizeIs;
using testing::StrEq;

auto Value(const char* group, const char* of, const char* name, double value) {
  return AllOf(Field(&TimelineValue::group, StrEq(group)), Field(&TimelineValue::of, StrEq(of)),
               Field(&TimelineValue::name, StrEq(name)), Field(&TimelineValue::value, value));
}

auto OfGroup(const char* group) { return Field(&TimelineValue::group, StrEq(group)); }

template <typename... Samples>
std::vector<TimelineValue> ValuesOf(const Samples&... samples) {
  std::vector<TimelineValue> values;
  AppendValues(samples..., values);
  return values;
}

TEST(TimelineValues, PressureIsOfTheMachineAndOfTheContainer) {
  SystemRates rates;
  rates.pressure.io.some = 0.25;
  rates.cgroup_pressure.memory.some = 0.5;
  const auto values = ValuesOf(rates, true);
  EXPECT_THAT(values, Contains(Value("pressure", "", "io", 0.25)));
  EXPECT_THAT(values, Contains(Value("pressure", "in the container", "memory", 0.5)));
  EXPECT_THAT(values, Not(Contains(Value("pressure", "", "memory", 0))));
}

TEST(TimelineValues, WhatMemoryLacks) {
  SystemRates rates{.tree_major_faults_per_second = 12};
  rates.refaults_per_second = 300;
  const auto values = ValuesOf(rates, true);
  EXPECT_THAT(values, Contains(Value("memory", "", "pages that had left it", 300)));
  EXPECT_THAT(values, Contains(Value("memory", "", "the program's major faults", 12)));
}

TEST(TimelineValues, OfAProgramThatIsHiddenOnlyTheMachineIsKnown) {
  SystemRates rates{.tree_cores = 1.5, .tree_major_faults_per_second = 12};
  rates.others_cores = 2;
  rates.own_cores = 0.007;
  rates.page_cache_read_bytes_per_second = 4096;
  // Values of others are kept, whatever their names.
  rates.network = {{.name = "others", .received_bytes_per_second = 8}};
  const auto seen = ValuesOf(rates, true), hidden = ValuesOf(rates, false);
  for (const auto& of_tree : {Value("cpu", "", "the program", 1.5), Value("cpu", "", "others", 2),
                              Value("cpu", "", "recprobe", 0.007),
                              Value("memory", "", "the program's major faults", 12)}) {
    EXPECT_THAT(seen, Contains(of_tree));
    EXPECT_THAT(hidden, Not(Contains(of_tree)));
  }
  EXPECT_THAT(hidden, SizeIs(seen.size() - 4));
  EXPECT_THAT(hidden, Contains(Value("network", "others", "received", 8)));
}

TEST(TimelineValues, LimitsAreThoseThatThereAre) {
  SystemSample sample;
  sample.cgroup = {.cpu_limit = 1.5, .memory_limit = 4096, .memory_used = 1024};
  EXPECT_THAT(ValuesOf(sample), testing::IsSupersetOf({Value("limits", "", "processors", 1.5),
                                                       Value("limits", "", "memory", 4096),
                                                       Value("limits", "", "memory used", 1024)}));
  sample.cgroup = {.cpu_limit = std::numeric_limits<double>::infinity(),
                   .memory_limit = kNoMemoryLimit};
  EXPECT_THAT(ValuesOf(sample), Each(Not(OfGroup("limits"))));
  sample.cgroup = {};
  EXPECT_THAT(ValuesOf(sample), Each(Not(OfGroup("limits"))));
}

TEST(TimelineValues, UsedUpPeriodsAreOfTheLimits) {
  SystemRates rates;
  rates.throttled_periods_share = 0.75;
  EXPECT_THAT(ValuesOf(rates, true),
              Contains(Value("limits", "", "periods in which the quota was used up", 0.75)));
}

TEST(TimelineSampler, OfAProcessThatIsHiddenNothingIsSaid) {
  SystemSample sample{.time_ns = 1, .cores = {{.core = 0, .busy_ns = 1, .idle_ns = 1}}};
  const auto names = [&](const std::vector<ProcessSample>& processes) {
    TimelineSampler sampler;
    sample.processes = processes;
    for (const int64_t time : {1, 2, 3}) {
      sample.time_ns = time * 1'000'000'000;
      sample.cores[0].busy_ns += 500'000'000;
      sample.cores[0].idle_ns += 500'000'000;
      sampler.Add(sample);
    }
    std::vector<std::string> all;
    for (const TimelineSeries& series : sampler.Collected().series) all.push_back(series.name);
    return all;
  };
  EXPECT_THAT(names({{.process = 7}}), Contains("the program"));
  EXPECT_THAT(names({}), AllOf(Contains("busy"), Not(Contains("the program"))));
}

}  // namespace
}  // namespace recpack::probe
