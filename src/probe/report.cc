#include "recpack/probe/report.h"

#include <algorithm>
#include <utility>

#include "recpack/probe/stage_use.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr size_t kMostStretches = 480;  // of a trainer's steps

// Of `count` neighbours from `first` on.
StepStretch StretchOf(const std::vector<StepRecord>& steps, size_t first, size_t count) {
  StepStretch stretch{.begin = steps[first].begin, .end = steps[first + count - 1].end};
  stretch.steps = count;
  for (size_t i = first; i < first + count; ++i) {
    const StepRecord& step = steps[i];
    const double duration = static_cast<double>(step.duration()) * 1e-9;
    stretch.step += duration;
    stretch.longest = std::max(stretch.longest, duration);
    stretch.input_wait += static_cast<double>(step.uncovered_wait) * 1e-9;
    stretch.copies += static_cast<double>(step.copies) * 1e-9;
    stretch.device_copies += static_cast<double>(step.device_copies) * 1e-9;
    stretch.exchange += static_cast<double>(step.exchange) * 1e-9;
    stretch.device += static_cast<double>(step.device) * 1e-9;
  }
  for (double* sum : {&stretch.step, &stretch.input_wait, &stretch.copies, &stretch.device_copies,
                      &stretch.exchange, &stretch.device}) {
    *sum /= static_cast<double>(count);
  }
  stretch.other = std::max(0.0, stretch.step - stretch.input_wait - stretch.copies -
                                    stretch.device_copies - stretch.exchange - stretch.device);
  return stretch;
}

StepSeries SeriesOf(const TrainerSteps& trainer, bool accelerators) {
  StepSeries series{.process = trainer.process,
                    .lane = trainer.lane,
                    .device = trainer.device,
                    .source = trainer.source,
                    .device_seen = trainer.device_seen,
                    .steps = trainer.steps.size(),
                    .stretches = {}};
  const size_t each = (trainer.steps.size() + kMostStretches - 1) / kMostStretches;
  for (size_t at = 0; at < trainer.steps.size(); at += each) {
    series.stretches.push_back(
        StretchOf(trainer.steps, at, std::min(each, trainer.steps.size() - at)));
  }
  // As in the verdict: without accelerators the rest of a step is the device's.
  if (!accelerators && !trainer.device_seen) {
    for (StepStretch& stretch : series.stretches) std::swap(stretch.device, stretch.other);
  }
  return series;
}

// The share of each of the timeline's stretches in which the trainer's device computed: a step's
// work is taken to be spread evenly over it.
void AddDeviceTo(const TrainerSteps& trainer, Timeline& timeline) {
  const size_t stretches = timeline.begin.size();
  std::vector<double> work(stretches);
  std::vector<bool> seen(stretches);
  size_t at = 0;
  for (const StepRecord& step : trainer.steps) {
    while (at < stretches && timeline.end[at] <= step.begin) ++at;
    for (size_t i = at; i < stretches && timeline.begin[i] < step.end; ++i) {
      const int64_t begin = std::max(step.begin, timeline.begin[i]);
      const int64_t end = std::min(step.end, timeline.end[i]);
      if (end <= begin) continue;
      seen[i] = true;
      work[i] += static_cast<double>(step.device) * static_cast<double>(end - begin) /
                 static_cast<double>(step.duration());
    }
  }
  std::string of = trainer.device == Event::kNoDevice
                       ? format("process {}", trainer.process)
                       : format("device {} of process {}", trainer.device, trainer.process);
  TimelineSeries& series = timeline.series.emplace_back(
      TimelineSeries{"devices", std::move(of), "computes", "share", {}});
  series.values.resize(stretches);
  for (size_t i = 0; i < stretches; ++i) {
    const auto length = static_cast<double>(timeline.end[i] - timeline.begin[i]);
    if (seen[i]) series.values[i] = std::min(1.0, work[i] / length);
  }
}

Figure FigureOf(const Reading<double>& reading) { return reading ? Figure(*reading) : Figure(); }

std::vector<StageReport> StagesOf(const std::optional<LoaderUse>& use) {
  std::vector<StageReport> stages;
  if (!use) return stages;
  stages.reserve(use->stages.size() + 1);
  for (const StageUse& stage : use->stages) {
    stages.push_back({.name = StageName(stage.stage),
                      .share = stage.share,
                      .rate = FigureOf(stage.rate),
                      .ceiling = FigureOf(stage.ceiling),
                      .ceiling_share = FigureOf(stage.ceiling_share()),
                      .next = stage.next});
  }
  stages.push_back({.name = StageName(Stage::kRoom), .share = use->room_share});
  return stages;
}

std::vector<Explanation> HowOf(const Report& report, const Evidence& evidence) {
  std::vector<Explanation> how;
  const auto add = [&](const char* figure, std::string text) {
    how.push_back({figure, std::move(text)});
  };
  if (!report.steps.empty()) {
    const bool told = std::all_of(report.steps.begin(), report.steps.end(), [](const auto& series) {
      return series.source == TrainerSteps::Source::kTold;
    });
    add("steps", told ? "the program, or the hook in it, told when each one ended"
                      : "nobody told of steps: one is from a batch to the next");
    add("waits for input",
        report.verdict.upper_bound
            ? "the time in which a training thread waited for its next batch; what the device did "
              "meanwhile is not known, so this is an upper bound"
            : "the time in which a training thread waited for its next batch while its device did "
              "nothing");
    add("intervals",
        "stretches of neighbouring steps drawn again 2000 times (moving-block bootstrap): they "
        "hold the true share in 95 of 100 cases");
    add("gain", "share / (1 - share): what a perfect input would spare");
  }
  if (!report.stages.empty()) {
    add("stages of the loader",
        "the shared page of the loader, read at each sample; a rate is what the workers would do "
        "if they did nothing else");
  }
  if (!report.timeline.series.empty()) {
    add("timelines",
        format("/proc and the devices' drivers, means over stretches of time; there are {}",
               report.timeline.begin.size()));
  }
  if (!evidence.accelerators) {
    add("device", "this machine has no accelerator: a step's own work is the processors'");
  }
  if (!report.trace.tables.empty()) {
    add("tables", "events that the program, its libraries or a trace of it told of; rows are sums");
  }
  return how;
}

// Of the loader that gave the most batches.
std::optional<int> BatchSizeOf(const Evidence& evidence) {
  const auto most = std::max_element(
      evidence.loaders.begin(), evidence.loaders.end(),
      [](const auto& a, const auto& b) { return a.stats.batches < b.stats.batches; });
  if (most == evidence.loaders.end() || most->stats.batch_size == 0) return {};
  return static_cast<int>(most->stats.batch_size);
}

// What is null in the file, and why.
void AddUnseen(Report& report) {
  const auto add = [&](bool missing, const char* why) {
    if (missing) report.unseen.emplace_back(why);
  };
  const Job& job = report.job;
  const bool said = std::any_of(report.unseen.begin(), report.unseen.end(),
                                [](const auto& text) { return text.starts_with("rank:"); });
  add(!job.gpus, "which GPUs the program used: not known");
  add(!job.rank && !said, "rank: no launcher (torchrun, MPI, Slurm) named one");
  add(!job.begin, "when the job began: its trace counts from a time of its own");
  add(job.host.empty() || job.user.empty(), "host and user: a trace does not name them");
  add(!job.exit_code, "exit code: known only of a command that was run");
  add(!report.stages.empty() && std::none_of(report.stages.begin(), report.stages.end(),
                                             [](const auto& stage) { return stage.ceiling; }),
      "ceilings of the loader's stages: not measured in this run");
}

}  // namespace

Report MakeReport(ReportParts parts, const Evidence& evidence, Verdict verdict) {
  Report report{.recprobe = std::move(parts.recprobe),
                .job = std::move(parts.job),
                .verdict = std::move(verdict),
                .begin = parts.begin,
                .steps = {},
                .timeline = std::move(parts.timeline),
                .stages = StagesOf(UseOf(evidence, parts.ceilings)),
                .trace = std::move(parts.trace),
                .unseen = evidence.unseen,
                .how = {}};
  for (const TrainerSteps& trainer : evidence.trainers) {
    if (trainer.steps.empty()) continue;
    report.steps.push_back(SeriesOf(trainer, evidence.accelerators));
    if (trainer.device_seen && !report.timeline.begin.empty()) {
      AddDeviceTo(trainer, report.timeline);
    }
  }
  if (!report.job.gpus && !evidence.accelerators) report.job.gpus = 0;
  if (!report.job.batch_size) report.job.batch_size = BatchSizeOf(evidence);
  if (!report.job.gpus && !evidence.gpus.empty()) {
    report.job.gpus = static_cast<int>(evidence.gpus.size());
  }
  AddUnseen(report);
  report.how = HowOf(report, evidence);
  return report;
}

}  // namespace recpack
