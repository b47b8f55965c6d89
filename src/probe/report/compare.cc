#include "src/probe/report/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::probe {
namespace {

// Step times of all trainers, one after the other, without warm-up steps.
std::vector<StepStretch> Stretches(const KeptReport& report) {
  std::vector<StepStretch> all;
  for (const std::vector<StepStretch>& trainer : report.steps) {
    size_t left_out = 0;
    for (const StepStretch& stretch : trainer) {
      if (left_out < report.verdict.left_out && trainer.size() > 1) {
        left_out += stretch.steps;
      } else {
        all.push_back(stretch);
      }
    }
  }
  return all;
}

Estimate ShareOfSteps(const std::vector<StepStretch>& stretches, double StepStretch::*part) {
  std::vector<Part> parts;
  parts.reserve(stretches.size());
  for (const StepStretch& stretch : stretches) {
    const auto count = static_cast<double>(stretch.steps);
    parts.push_back({count * stretch.*part, count * stretch.step});
  }
  return EstimateShare(parts);
}

// Steps per second of one trainer: 1 / mean step time. The upper end is infinite if the interval of
// the mean reaches 0 because steps are few and vary much.
Estimate Rate(const std::vector<StepStretch>& stretches) {
  std::vector<Part> parts;
  parts.reserve(stretches.size());
  for (const StepStretch& stretch : stretches) {
    const auto count = static_cast<double>(stretch.steps);
    parts.push_back({count * stretch.step, count});
  }
  const Estimate time = EstimateQuotient(parts);
  if (time.value <= 0) return {};
  return {1 / time.value, 1 / time.high,
          time.low > 0 ? 1 / time.low : std::numeric_limits<double>::infinity()};
}

void AddChanges(const KeptReport& a, const KeptReport& b, Comparison& comparison) {
  const std::vector<StepStretch> of_a = Stretches(a), of_b = Stretches(b);
  if (of_a.empty() || of_b.empty()) return;
  const Estimate rate_a = Rate(of_a), rate_b = Rate(of_b);
  comparison.changes.push_back({"steps/s", rate_a, rate_b, false, Ratio(rate_a, rate_b)});
  if (a.verdict.band != Band::kUnknown && b.verdict.band != Band::kUnknown) {
    comparison.changes.push_back({"waits for input", a.verdict.input_share, b.verdict.input_share,
                                  true, Difference(a.verdict.input_share, b.verdict.input_share)});
  }
  constexpr std::pair<const char*, double StepStretch::*> kParts[] = {
      {"copies to the device", &StepStretch::copies},
      {"copies on devices", &StepStretch::device_copies},
      {"exchange", &StepStretch::exchange},
      {"device", &StepStretch::device},
      {"other", &StepStretch::other}};
  for (const auto& [what, part] : kParts) {
    const Estimate share_a = ShareOfSteps(of_a, part), share_b = ShareOfSteps(of_b, part);
    comparison.changes.push_back({what, share_a, share_b, true, Difference(share_a, share_b)});
  }
}

void AddStages(const KeptReport& a, const KeptReport& b, Comparison& comparison) {
  for (const StageReport& of_a : a.stages) {
    const auto of_b = std::find_if(b.stages.begin(), b.stages.end(), [&](const StageReport& stage) {
      return stage.name == of_a.name;
    });
    if (of_b != b.stages.end()) comparison.stages.emplace_back(of_a, *of_b);
  }
}

std::string Joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

// The difference of two commands, without their common beginning and end.
Unlike CompareCommands(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto [begin_a, begin_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  auto end_a = a.end(), end_b = b.end();
  while (end_a > begin_a && end_b > begin_b && *(end_a - 1) == *(end_b - 1)) {
    --end_a;
    --end_b;
  }
  // Include the flag of a value that differs.
  const bool flag = begin_a > a.begin() && (begin_a - 1)->starts_with("--");
  const ptrdiff_t back = flag ? 1 : 0;
  return {"command", Joined({begin_a - back, end_a}), Joined({begin_b - back, end_b})};
}

void AddUnlike(const KeptReport& a, const KeptReport& b, Comparison& comparison) {
  const auto add = [&](const char* what, const std::string& of_a, const std::string& of_b) {
    if (of_a != of_b) comparison.unlike.push_back({what, of_a, of_b});
  };
  const auto number = [](const std::optional<int>& value) {
    return value ? format("{}", *value) : std::string("unknown");
  };
  add("host", a.job.host, b.job.host);
  if (a.job.command != b.job.command) {
    comparison.unlike.push_back(CompareCommands(a.job.command, b.job.command));
  }
  add("batch size", number(a.job.batch_size), number(b.job.batch_size));
  add("GPUs", number(a.job.gpus), number(b.job.gpus));
  add("processes", number(a.job.world_size), number(b.job.world_size));
  add("training threads", format("{}", a.steps.size()), format("{}", b.steps.size()));
  add("recprobe", a.recprobe, b.recprobe);
}

void AddNotes(const KeptReport& a, const KeptReport& b, Comparison& comparison) {
  for (const KeptReport* report : {&a, &b}) {
    const char* const name = report == &a ? "A" : "B";
    if (report->verdict.steps == 0) {
      comparison.notes.push_back(format("{} has no steps: its speed is unknown", name));
    } else if (report->verdict.band == Band::kUnknown) {
      comparison.notes.push_back(format("it is not known whether {} waits for input", name));
    }
    if (report->verdict.steps > 0 && !report->verdict.enough_steps()) {
      comparison.notes.push_back(
          format("{} has only {} steps: too few for sure results", name, report->verdict.steps));
    }
    if (report->job.exit_code.value_or(0) != 0) {
      comparison.notes.push_back(
          format("{} ended with exit code {}", name, *report->job.exit_code));
    }
    if (report->verdict.upper_bound) {
      comparison.notes.push_back(
          format("waits of {} are an upper bound: device work, waits of ranks for each other, or "
                 "prefetching was not observed",
                 name));
    }
  }
  comparison.notes.emplace_back(
      "intervals cover variation within a run; runs differ by more if the machine changes");
}

}  // namespace

Estimate Difference(const Estimate& from, const Estimate& to) {
  const double value = to.value - from.value;
  return {value, value - std::hypot(to.value - to.low, from.high - from.value),
          value + std::hypot(to.high - to.value, from.value - from.low)};
}

std::optional<Estimate> Ratio(const Estimate& from, const Estimate& to) {
  if (!(from.low > 0 && to.low > 0)) return {};
  const Estimate log = Difference({std::log(from.value), std::log(from.low), std::log(from.high)},
                                  {std::log(to.value), std::log(to.low), std::log(to.high)});
  return Estimate{std::exp(log.value), std::exp(log.low), std::exp(log.high)};
}

bool Change::sure() const {
  const double same = is_share ? 0 : 1;
  return change && (change->low > same || change->high < same);
}

Comparison CompareReports(const KeptReport& a, const KeptReport& b) {
  Comparison comparison{.verdict_a = BandName(a.verdict.band),
                        .verdict_b = BandName(b.verdict.band),
                        .cause_a = a.cause,
                        .cause_b = b.cause};
  AddChanges(a, b, comparison);
  AddStages(a, b, comparison);
  AddUnlike(a, b, comparison);
  AddNotes(a, b, comparison);
  return comparison;
}

bool IsSlower(const Comparison& comparison, double limit) {
  if (comparison.changes.empty() || !comparison.changes.front().change) {
    throw Error(ErrorKind::kInvalidArgument, "cannot compare the speed: a report has no steps", {},
                "see the notes of its verdict: recprobe run says why there are none");
  }
  return comparison.changes.front().change->high < 1 - limit;
}

}  // namespace recpack::probe
