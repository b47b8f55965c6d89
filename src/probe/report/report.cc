#include "src/probe/report/report.h"

#include <algorithm>
#include <utility>

#include "src/base/format.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/procfs/busiest.h"
#include "src/probe/report/report_notes.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostStretches = 480;  // of a trainer's steps
constexpr size_t kMostThreads = 32;
constexpr size_t kMostProcesses = 16;

// Means over `count` steps from `first` on.
StepStretch MakeStretch(const std::vector<StepRecord>& steps, size_t first, size_t count) {
  StepStretch stretch{.begin = steps[first].begin, .end = steps[first + count - 1].end};
  stretch.steps = count;
  for (size_t i = first; i < first + count; ++i) {
    const StepRecord& step = steps[i];
    const double duration = Seconds(step.duration());
    stretch.step += duration;
    stretch.longest = std::max(stretch.longest, duration);
    stretch.input_wait += Seconds(step.uncovered_wait);
    stretch.copies += Seconds(step.copies);
    stretch.device_copies += Seconds(step.device_copies);
    stretch.exchange += Seconds(step.exchange);
    stretch.device += Seconds(step.device);
  }
  for (double* sum : {&stretch.step, &stretch.input_wait, &stretch.copies, &stretch.device_copies,
                      &stretch.exchange, &stretch.device}) {
    *sum /= static_cast<double>(count);
  }
  stretch.other = std::max(0.0, stretch.step - stretch.input_wait - stretch.copies -
                                    stretch.device_copies - stretch.exchange - stretch.device);
  return stretch;
}

StepSeries MakeSeries(const TrainerSteps& trainer, bool own_work) {
  StepSeries series{.process = trainer.process,
                    .lane = trainer.lane,
                    .device = trainer.device,
                    .source = trainer.source,
                    .device_seen = trainer.device_seen,
                    .steps = trainer.steps.size() + trainer.dropped,
                    .stretches = {}};
  const size_t each = (trainer.steps.size() + kMostStretches - 1) / kMostStretches;
  for (size_t at = 0; at < trainer.steps.size(); at += each) {
    series.stretches.push_back(
        MakeStretch(trainer.steps, at, std::min(each, trainer.steps.size() - at)));
  }
  // As in the verdict, the rest of a step is the work of the device, which is the CPU.
  if (own_work && !trainer.device_seen) {
    for (StepStretch& stretch : series.stretches) std::swap(stretch.device, stretch.other);
  }
  return series;
}

// Adds the share of each timeline stretch in which the trainer's device computed. Assumes that the
// work of a step is spread evenly over it.
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

Figure ToFigure(const Reading<double>& reading) { return reading ? Figure(*reading) : Figure(); }

std::vector<StageReport> MakeStages(const std::optional<LoaderUse>& use) {
  std::vector<StageReport> stages;
  if (!use) return stages;
  stages.reserve(use->stages.size() + 1);
  for (const StageUse& stage : use->stages) {
    stages.push_back({.name = StageName(stage.stage),
                      .share = stage.share,
                      .rate = ToFigure(stage.rate),
                      .ceiling = ToFigure(stage.ceiling),
                      .ceiling_share = ToFigure(stage.ceiling_share()),
                      .next = stage.next});
  }
  stages.push_back({.name = StageName(Stage::kRoom), .share = use->room_share});
  return stages;
}

// Batch size of the loader that gave the most batches.
std::optional<int> FindBatchSize(const Evidence& evidence) {
  const auto most = std::max_element(
      evidence.loaders.begin(), evidence.loaders.end(),
      [](const auto& a, const auto& b) { return a.stats.batches < b.stats.batches; });
  if (most == evidence.loaders.end() || most->stats.batch_size == 0) return {};
  return static_cast<int>(most->stats.batch_size);
}

}  // namespace

Report MakeReport(ReportParts parts, const Evidence& evidence, Verdict verdict) {
  Report report{.recprobe = std::move(parts.recprobe),
                .job = std::move(parts.job),
                .verdict = std::move(verdict),
                .begin = parts.begin,
                .steps = {},
                .timeline = std::move(parts.timeline),
                .threads = {},
                .processes = {},
                .stages = {},
                .loader = MakeLoaderUse(evidence, parts.ceilings),
                .trace = std::move(parts.trace),
                .unseen = evidence.unseen,
                .how = {}};
  report.stages = MakeStages(report.loader);
  // The same trainers as in the verdict.
  const bool by_loaders = evidence.trainers.empty();
  const std::vector<TrainerSteps> of_loaders =
      by_loaders ? MakeLoaderSteps(evidence.loaders) : std::vector<TrainerSteps>();
  const std::vector<TrainerSteps>& trainers = by_loaders ? of_loaders : evidence.trainers;
  const bool own_work = StepsAreOwnWork(evidence, trainers);
  for (const TrainerSteps& trainer : trainers) {
    if (trainer.steps.empty()) continue;
    report.steps.push_back(MakeSeries(trainer, own_work));
    if (trainer.device_seen && !report.timeline.begin.empty()) {
      AddDeviceTo(trainer, report.timeline);
    }
  }
  if (evidence.system) {
    report.threads = BusiestThreads(*evidence.system, kMostThreads);
    report.processes = BusiestProcesses(*evidence.system, kMostProcesses);
  }
  if (!report.job.gpus && !evidence.accelerators) report.job.gpus = 0;
  if (!report.job.batch_size) report.job.batch_size = FindBatchSize(evidence);
  if (!report.job.gpus && !evidence.gpus.empty() &&
      std::ranges::all_of(evidence.gpus, &GpuUse::used)) {
    report.job.gpus = static_cast<int>(evidence.gpus.size());
  }
  AddUnseen(report);
  report.how = ExplainFigures(report, evidence);
  return report;
}

}  // namespace recpack::probe
