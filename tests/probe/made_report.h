// Builds reports of made-up trainings.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/report/kept_report.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

struct MadeReport {
  std::string name = "train.py";
  int rank = -1;  // -1: of no launch
  int world_size = 1;
  std::string launch = "";
  int gpus = 1;
  double seconds = 3600;
  size_t steps = 1000;
  double step = 3.6;       // seconds
  double jitter = 0.0005;  // of it, by which every other one is longer, and the others shorter
  Estimate input = {0.2, 0.19, 0.22};
  double exchange = 0;
  Bottleneck bottleneck = Bottleneck::kDecode;
};

// As ReadReport() gives it. Steps are alike, but for the jitter.
inline KeptReport Made(const MadeReport& made) {
  KeptReport report{.path = made.name + "/report.json", .recprobe = "0.1.0"};
  report.job.name = made.name;
  report.job.command = {"python", made.name};
  report.job.host = "n1";
  report.job.user = "ann";
  if (made.rank >= 0) report.job.rank = made.rank;
  if (made.rank >= 0) report.job.world_size = made.world_size;
  report.job.process = 100 + made.rank;
  report.job.begin = int64_t{1'700'000'000} * 1'000'000'000;
  report.job.seconds = made.seconds;
  report.job.exit_code = 0;
  report.job.gpus = made.gpus;
  report.job.launch = made.launch;
  Verdict& verdict = report.verdict;
  verdict.bottleneck = made.bottleneck;
  report.cause = BottleneckName(made.bottleneck);
  verdict.cure = made.bottleneck == Bottleneck::kModel ? "" : "more loader threads";
  if (made.steps == 0) return report;
  verdict.band = made.input.value < 0.05 ? Band::kNotInput : Band::kHighly;
  verdict.input_share = made.input;
  verdict.gain = {0.25, 0.23, 0.28};
  verdict.steps = made.steps - 10;
  verdict.left_out = 10;
  verdict.steps_per_second = 1 / made.step;
  verdict.breakdown = {.input_wait = made.input.value,
                       .exchange = made.exchange,
                       .device = 1 - made.input.value - made.exchange};
  std::vector<StepStretch> stretches;
  stretches.reserve(100);
  for (size_t i = 0; i < 100; ++i) {
    const double step = made.step * (i % 2 == 0 ? 1 + made.jitter : 1 - made.jitter);
    StepStretch stretch{.steps = made.steps / 100, .step = step};
    stretch.input_wait = step * made.input.value;
    stretch.exchange = step * made.exchange;
    stretch.device = step * verdict.breakdown.device;
    stretches.push_back(stretch);
  }
  report.steps = {stretches};
  return report;
}

// The same as report.json.
inline std::string MadeText(const MadeReport& made) {
  const KeptReport kept = Made(made);
  const Job& job = kept.job;
  const auto or_null = [](const std::optional<int>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json json = {{"version", 1}, {"recprobe", kept.recprobe}};
  json["job"] = {{"name", job.name},
                 {"command", job.command},
                 {"host", job.host},
                 {"user", job.user},
                 {"launch", job.launch},
                 {"rank", or_null(job.rank)},
                 {"world_size", or_null(job.world_size)},
                 {"process", job.process},
                 {"begin", "2023-11-14T22:13:20.000Z"},
                 {"seconds", job.seconds},
                 {"exit_code", 0},
                 {"gpus", or_null(job.gpus)}};
  json["verdict"] = nlohmann::ordered_json::parse(VerdictJson(kept.verdict));
  json["steps"] = nlohmann::ordered_json::array();
  for (const auto& trainer : kept.steps) {
    nlohmann::ordered_json series = {{"process", job.process}, {"steps", made.steps}};
    for (const StepStretch& stretch : trainer) {
      series["count"].push_back(stretch.steps);
      series["step_s"].push_back(stretch.step);
      series["input_wait_s"].push_back(stretch.input_wait);
      series["copies_s"].push_back(stretch.copies);
      series["exchange_s"].push_back(stretch.exchange);
      series["device_s"].push_back(stretch.device);
      series["other_s"].push_back(stretch.other);
    }
    json["steps"].push_back(series);
  }
  json["stages"] = {{{"name", "decode"}, {"share", 0.75}, {"rate", 100.0}, {"ceiling", nullptr}}};
  return json.dump() + "\n";
}

}  // namespace recpack::probe
