#include "src/probe/live/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <set>
#include <sstream>

#include "src/probe/causes/decide.h"
#include "src/probe/live/exposition.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const MetricLabels kLabels = {.job = "resnet", .rank = "3", .user = "ann", .host = "n1"};
constexpr char kOwn[] = R"(job="resnet",rank="3",user="ann",host="n1")";

// Steps of one second from number `first` on; a quarter of each is a wait for input.
Evidence Training(int steps, int first = 0) {
  TrainerSteps trainer{.process = 5, .lane = 5, .device = 0, .device_seen = true};
  for (int i = first; i < first + steps; ++i) {
    trainer.steps.push_back({.number = static_cast<uint64_t>(i),
                             .begin = i * kSecond,
                             .end = (i + 1) * kSecond,
                             .input_wait = kSecond / 4,
                             .uncovered_wait = kSecond / 4,
                             .device = kSecond / 2});
  }
  return {.trainers = {trainer}};
}

std::string TextOf(const Evidence& evidence, int64_t now = 1000 * kSecond,
                   const std::vector<GpuSample>& gpus = {}) {
  return Metrics(kLabels).Text(evidence, Decide(evidence), gpus, now);
}

std::string Line(const std::string& name, const std::string& labels, const std::string& value) {
  return "\n" + name + "{" + kOwn + (labels.empty() ? "" : "," + labels) + "} " + value + "\n";
}

TEST(Exposition, EscapesValuesOfLabels) {
  Exposition text(Exposition::Labels{{"job", "a\"b\\c\nd"}});
  text.Single("x", "Help.", 0.5);
  EXPECT_EQ(text.text(), "# HELP x Help.\n# TYPE x gauge\nx{job=\"a\\\"b\\\\c\\nd\"} 0.5\n");
}

TEST(Exposition, WhatIsNotUtf8DoesNoHarm) {
  Exposition text(Exposition::Labels{{"job", "a\xff"}, {"user", "\xc3\xa4"}});
  text.Single("x_total", "Help.", 1);
  EXPECT_THAT(text.text(), EndsWith("\nx_total{job=\"a?\",user=\"\xc3\xa4\"} 1\n"));
  EXPECT_THAT(text.text(), HasSubstr("# TYPE x_total counter\n"));
}

TEST(Exposition, WhatIsNotKnownIsNotThere) {
  Exposition text(Exposition::Labels{});
  text.Single("x", "Help.", std::nullopt);
  text.Single("y", "Help.", std::numeric_limits<double>::quiet_NaN());
  text.Single("z", "Help.", std::numeric_limits<double>::infinity());
  EXPECT_EQ(text.text(), "");
}

TEST(Metrics, OfATraining) {
  const std::string text = TextOf(Training(100));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_band", R"(band="highly input-bound")", "1")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_band", R"(band="undecided")", "0")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_input_share_ratio", "", "0.25")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_input_share_low_ratio", "", "0.24")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_steps_per_second", "", "1")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_step_part_ratio", R"(part="device")", "0.5")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_steps_total", "", "100")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_device_seconds_total", "", "100")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_input_wait_seconds_total", "", "25")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_lost_device_seconds_total", "", "25")));
}

TEST(Metrics, TimeBesideTheSteps) {
  Evidence evidence = Training(100);
  EXPECT_THAT(TextOf(evidence), HasSubstr(Line("recprobe_beside_steps_ratio", "", "0")));
  for (StepRecord& step : evidence.trainers[0].steps) {
    step.beside = kSecond;
    step.evaluation_wait = kSecond / 2;
  }
  evidence.trainers[0].steps.resize(51);  // 10 are left out, and the first has none before it
  const std::string text = TextOf(evidence);
  EXPECT_THAT(text, HasSubstr(std::string("\nrecprobe_beside_steps_ratio{") + kOwn + "} 0.49"));
  EXPECT_THAT(text, HasSubstr(std::string("\nrecprobe_evaluation_wait_ratio{") + kOwn + "} 0.24"));
}

TEST(Metrics, PartsOfAStepAddUp) {
  Evidence evidence = Training(100);
  for (StepRecord& step : evidence.trainers[0].steps) {
    step.copies = kSecond / 16;
    step.device_copies = kSecond / 8;
  }
  const std::string text = TextOf(evidence);
  EXPECT_THAT(text,
              HasSubstr(Line("recprobe_step_part_ratio", R"(part="device_copies")", "0.125")));
  const std::regex part(R"re(recprobe_step_part_ratio\{.*part="\w+"\} (\S+))re");
  double sum = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), part), end; at != end; ++at) {
    sum += std::stod((*at)[1]);
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Metrics, OneBottleneckIsTheOne) {
  const std::string text = TextOf(Training(100));
  const std::regex one(R"(recprobe_bottleneck\{.*\} 1\n)");
  EXPECT_EQ(
      std::distance(std::sregex_iterator(text.begin(), text.end(), one), std::sregex_iterator()),
      1);
  for (size_t i = 0; i < kBottlenecks; ++i) {
    EXPECT_THAT(text, HasSubstr(std::string("bottleneck=\"") +
                                BottleneckName(static_cast<Bottleneck>(i)) + "\""));
  }
}

TEST(Metrics, OfAProgramThatToldNothing) {
  const std::string text = TextOf({});
  EXPECT_THAT(text, HasSubstr(Line("recprobe_band", R"(band="unknown")", "1")));
  for (const char* name : {"recprobe_input_share", "recprobe_steps", "_total", "recprobe_loader",
                           "recprobe_processors", "recprobe_device"}) {
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
}

TEST(Metrics, CountersGrowByStepsThatAreNew) {
  Metrics metrics(kLabels);
  const auto text = [&](const Evidence& evidence, int64_t now) {
    return metrics.Text(evidence, Decide(evidence), {}, now);
  };
  EXPECT_THAT(text(Training(50), 1000 * kSecond),
              HasSubstr(Line("recprobe_steps_total", "", "50")));
  EXPECT_THAT(text(Training(50), 1000 * kSecond),
              HasSubstr(Line("recprobe_steps_total", "", "50")));
  // The first 20 steps are not in the evidence any more.
  EXPECT_THAT(text(Training(50, 20), 1000 * kSecond),
              HasSubstr(Line("recprobe_steps_total", "", "70")));
}

TEST(Metrics, ADeviceIsOneTrainerWhicheverThreadTellsOfIt) {
  for (const auto& [device, steps] :
       {std::pair(uint16_t{0}, "50"), {uint16_t{Event::kNoDevice}, "100"}}) {
    Metrics metrics(kLabels);
    Evidence evidence = Training(50);
    std::string text;
    for (const uint32_t lane : {5U, 6U}) {
      evidence.trainers[0].lane = lane;
      evidence.trainers[0].device = device;
      text = metrics.Text(evidence, Decide(evidence), {}, 1000 * kSecond);
    }
    EXPECT_THAT(text, HasSubstr(Line("recprobe_steps_total", "", steps))) << device;
  }
}

TEST(Metrics, KnowsWhereStepsAreMissingSinceTheCallBefore) {
  Metrics metrics(kLabels);
  const auto take = [&](const Evidence& evidence) {
    metrics.Text(evidence, Decide(evidence), {}, 1000 * kSecond);
  };
  EXPECT_FALSE(metrics.Misses(Training(49), 50)) << "all there are";
  EXPECT_TRUE(metrics.Misses(Training(50), 50)) << "there may be more";
  take(Training(50));
  EXPECT_FALSE(metrics.Misses(Training(50, 50), 50));
  EXPECT_FALSE(metrics.Misses(Training(50, 20), 50));
  EXPECT_TRUE(metrics.Misses(Training(50, 51), 50));
  EXPECT_FALSE(metrics.Misses(Training(50, 51), 100)) << "one was lost";
}

TEST(Metrics, StepsThatJustEndedAreNotCountedYet) {
  EXPECT_THAT(TextOf(Training(100), 100 * kSecond),
              HasSubstr(Line("recprobe_steps_total", "", "98")));
}

TEST(Metrics, OfLoaders) {
  Evidence evidence = Training(100);
  evidence.loaders.resize(2);
  for (LoaderSample& sample : evidence.loaders) {
    sample.time = 1000 * kSecond;
    sample.process = 7;
    sample.stats.workers.resize(2);
    sample.stats.batches += 10;
  }
  LoaderStats& last = evidence.loaders[1].stats;
  last.samples = 320;
  last.slots = 8;
  last.consumer_wait = std::chrono::milliseconds(1500);
  last.workers[0].stages[static_cast<size_t>(Stage::kDecode)] = {
      .count = 1, .bytes = 1000, .time = std::chrono::seconds(3)};
  last.workers[1].stages[static_cast<size_t>(Stage::kRoom)].time = std::chrono::seconds(1);
  const std::string text = TextOf(evidence);
  const std::string loader = R"(process="7",loader="0")";
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_workers", loader, "2")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_samples_total", loader, "320")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_wait_seconds_total", loader, "1.5")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_busy_ratio", loader, "0.75")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_stage_share_ratio",
                                   loader + R"(,stage="decode")", "0.75")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_stage_bytes_total",
                                   loader + R"(,stage="decode")", "1000")));
  EXPECT_THAT(text, Not(HasSubstr("recprobe_loader_stage_bytes_total{" + std::string(kOwn) + "," +
                                  loader + ",stage=\"room\"")));
}

TEST(Metrics, OfLoadersThatReadFromAStore) {
  Evidence evidence = Training(100);
  evidence.loaders.resize(1);
  LoaderSample& sample = evidence.loaders[0];
  sample.time = 1000 * kSecond;
  sample.process = 7;
  sample.stats.workers.resize(2);
  EXPECT_THAT(TextOf(evidence), Not(HasSubstr("recprobe_loader_store_")));
  for (WorkerStats& worker : sample.stats.workers) {
    worker.store = {.requests = 5, .bytes = 700, .throttled = 2, .retried = 3, .cache_misses = 9};
  }
  const std::string text = TextOf(evidence);
  const std::string loader = R"(process="7",loader="0")";
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_store_requests_total", loader, "10")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_store_bytes_total", loader, "1400")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_store_throttled_total", loader, "4")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_store_retried_total", loader, "6")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_store_cache_hit_bytes_total", loader, "0")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_loader_store_cache_miss_bytes_total", loader, "18")));
}

TEST(Metrics, OfLoadersThatHaveEndedNothingIsSaid) {
  Evidence evidence = Training(100);
  evidence.loaders.resize(2);
  evidence.loaders[0].time = 969 * kSecond;
  evidence.loaders[1].time = 971 * kSecond;
  evidence.loaders[1].stats.number = 1;
  const std::string text = TextOf(evidence);
  EXPECT_THAT(text, Not(HasSubstr(R"(loader="0")")));
  EXPECT_THAT(text, HasSubstr(R"(loader="1")"));
}

// A worker's current stage may later count as another one: a read turns out to be a wait for input.
TEST(Metrics, CountersOfStagesAreOfThoseThatWereLeft) {
  Evidence evidence = Training(100);
  evidence.loaders.resize(1);
  evidence.loaders[0].time = 1000 * kSecond;
  WorkerStats& worker = evidence.loaders[0].stats.workers.emplace_back();
  worker.now = Stage::kRead;
  worker.now_for = std::chrono::seconds(5);
  worker.stages[static_cast<size_t>(Stage::kRead)].time = std::chrono::seconds(7);
  EXPECT_THAT(TextOf(evidence), HasSubstr(Line("recprobe_loader_stage_seconds_total",
                                               R"(process="0",loader="0",stage="read")", "2")));
}

TEST(Metrics, OfTheSystem) {
  Evidence evidence = Training(100);
  evidence.system = SystemRates{.seconds = 10, .tree_cores = 1.5, .own_cores = 0.01};
  evidence.system->processes = {{.process = 1, .read_bytes_per_second = 100.0},
                                {.process = 2},
                                {.process = 3, .read_bytes_per_second = 50.0}};
  evidence.system->pressure.io.some = 0.2;
  const std::string text = TextOf(evidence);
  EXPECT_THAT(text, HasSubstr(Line("recprobe_processors_busy", "", "1.5")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_processors_own", "", "0.01")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_storage_read_bytes_per_second", "", "150")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_pressure_ratio", R"(resource="io")", "0.2")));
  EXPECT_THAT(text, Not(HasSubstr("recprobe_processors_allowed")));
  EXPECT_THAT(text, Not(HasSubstr("recprobe_quota")));
}

TEST(Metrics, OfGpus) {
  GpuValues values;
  values.utilisation = 0.5;
  values.power = 300.0;
  values.sm_clock = 1980;
  values.clock_reasons = std::vector<GpuClockReason>{{"hot", true}};
  std::vector<GpuSample> gpus(2);
  gpus[0] = {.device = 0, .name = std::string("H200"), .values = values};
  gpus[1] = {.device = 1, .values = Unavailable{"it is lost"}};
  const std::string text = TextOf({}, 0, gpus);
  const std::string device = R"(device="0",name="H200")";
  EXPECT_THAT(text, HasSubstr(Line("recprobe_device_utilisation_ratio", device, "0.5")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_device_power_watts", device, "300")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_device_sm_clock_hertz", device, "1980000000")));
  EXPECT_THAT(text, HasSubstr(Line("recprobe_device_throttled", device, "1")));
  EXPECT_THAT(text, Not(HasSubstr("device=\"1\"")));
  EXPECT_THAT(text, Not(HasSubstr("temperature")));
}

// The lines of a family follow its HELP and TYPE lines, and no series occurs twice.
TEST(Metrics, KeepToTheFormat) {
  Evidence evidence = Training(100);
  evidence.loaders.resize(2);
  evidence.loaders[1].stats.number = 1;
  evidence.system = SystemRates{.seconds = 10};
  std::istringstream lines(TextOf(evidence));
  std::set<std::string> families, series;
  std::string family;
  const std::regex sample(R"(([a-z_]+)\{([a-z_]+="[^"]*",?)+\} [-0-9.e+]+)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << line;
    } else if (line.starts_with("# TYPE ")) {
      EXPECT_EQ(line, "# TYPE " + family + (family.ends_with("_total") ? " counter" : " gauge"));
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_EQ(match[1], family);
      EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_GT(families.size(), 15u);
}

}  // namespace
}  // namespace recpack::probe
