#include "src/probe/report/report_notes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/format.h"
#include "src/probe/share/hidden_ranks.h"

namespace recpack::probe {
namespace {

// Explains the source of the steps; the least exact one if trainers differ.
const char* ExplainSteps(const std::vector<StepSeries>& steps) {
  auto least = TrainerSteps::Source::kTold;
  for (const StepSeries& series : steps) least = std::max(least, series.source);
  switch (steps.empty() ? TrainerSteps::Source::kLoader : least) {
    case TrainerSteps::Source::kTold:
      return "the program, or the hook in it, reported the end of each step";
    case TrainerSteps::Source::kMarked:
      return "no steps were reported: a step is the time from one range of a name (NVTX) to the "
             "next";
    case TrainerSteps::Source::kBetweenWaits:
      return "no steps were reported: a step is the time from batch to batch";
    case TrainerSteps::Source::kLoader:
      return "no steps were reported: a step is a batch in the loader's own statistics";
  }
  return "";
}

}  // namespace

std::vector<Explanation> ExplainFigures(const Report& report, const Evidence& evidence) {
  std::vector<Explanation> how;
  const auto add = [&](const char* figure, std::string text) {
    how.push_back({figure, std::move(text)});
  };
  if (report.verdict.steps > 0) add("steps", ExplainSteps(report.steps));
  if (report.verdict.band != Band::kUnknown) {
    add("waits for input",
        report.verdict.upper_bound
            ? "the time in which a training thread waited for its next batch; an upper bound, as "
              "device work, waits of ranks for each other, or prefetching was not observed"
            : "the time in which a training thread waited for its next batch while its device was "
              "idle");
    add("intervals",
        "circular block bootstrap with 2000 resamples of stretches of neighbouring steps: 95 % "
        "confidence for variation within a run; from one run to another more may change");
    add("gain", "share / (1 - share): what a perfect input would gain");
  }
  if (!report.stages.empty()) {
    add("stages of the loader",
        "the loader's shared statistics page, read at each sample; a rate is that of workers which "
        "do nothing else");
  }
  if (!report.timeline.series.empty()) {
    add("timelines", format("/proc and the devices' drivers, means over {} stretches of time",
                            report.timeline.begin.size()));
  }
  if (!report.threads.empty()) {
    add("threads and processes",
        "/proc, from the first step to the last: the busiest ones, including those that ended in "
        "between");
  }
  if (!report.verdict.lines.empty()) {
    add("lines of the program",
        "stacks of Python, sampled by the hook in each process up to 20 times a second; whether a "
        "thread is blocked is what /proc said at each sample");
  }
  if (StepsAreOwnWork(evidence, evidence.trainers)) {
    add("device", "this machine has no accelerator: the processors do the work of a step");
  }
  if (!report.trace.tables.empty()) {
    add("tables", "events of the program, its libraries or a trace of it; rows are sums");
  }
  return how;
}

void AddUnseen(Report& report) {
  const auto add = [&](bool missing, const char* why) {
    if (missing) report.unseen.emplace_back(why);
  };
  const Job& job = report.job;
  add(!job.gpus, "which GPUs the program used: not known");
  add(!job.rank && job.rank_unseen.empty(), "rank: no launcher (torchrun, MPI, Slurm) set one");
  add(!job.begin, "begin of the job: the clock of its trace is unknown");
  add(job.host.empty() || job.user.empty(), "host and user: a trace does not name them");
  add(job.running, "what comes later: the program goes on, and later reports replace this one");
  add(!job.exit_code && !job.running, "exit code: known only if recprobe ran the command");
  add(!report.stages.empty() && std::none_of(report.stages.begin(), report.stages.end(),
                                             [](const auto& stage) { return stage.ceiling; }),
      "ceilings of the loader's stages: not measured in this run");
}

}  // namespace recpack::probe
