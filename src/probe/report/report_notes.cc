#include "src/probe/report/report_notes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/format.h"
#include "src/probe/causes/hidden_ranks.h"

namespace recpack::probe {
namespace {

// Of the trainer that it is known least exactly of.
const char* HowStepsAreKnown(const std::vector<StepSeries>& steps) {
  auto least = TrainerSteps::Source::kTold;
  for (const StepSeries& series : steps) least = std::max(least, series.source);
  switch (steps.empty() ? TrainerSteps::Source::kLoader : least) {
    case TrainerSteps::Source::kTold:
      return "the program, or the hook in it, told when each one ended";
    case TrainerSteps::Source::kMarked:
      return "nobody told of steps: one is from a range of a name (NVTX) to the next";
    case TrainerSteps::Source::kBetweenWaits:
      return "nobody told of steps: one is from a batch to the next";
    case TrainerSteps::Source::kLoader:
      return "nobody told of steps: one is a batch that the loader's own account has";
  }
  return "";
}

}  // namespace

std::vector<Explanation> HowOf(const Report& report, const Evidence& evidence) {
  std::vector<Explanation> how;
  const auto add = [&](const char* figure, std::string text) {
    how.push_back({figure, std::move(text)});
  };
  if (report.verdict.steps > 0) add("steps", HowStepsAreKnown(report.steps));
  if (report.verdict.band != Band::kUnknown) {
    add("waits for input",
        report.verdict.upper_bound
            ? "the time in which a training thread waited for its next batch; what the device, or "
              "another rank, did meanwhile, or whether a thread fetches batches ahead, is not "
              "known, "
              "so this is an upper bound"
            : "the time in which a training thread waited for its next batch while its device did "
              "nothing");
    add("intervals",
        "stretches of neighbouring steps drawn again 2000 times (circular block bootstrap): of "
        "what "
        "changes within a run they hold the true share in 95 of 100 cases; from one run to another "
        "more may change");
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
  if (!report.threads.empty()) {
    add("threads and processes",
        "/proc, from the first step to the last: those that did most, also of those that ended in "
        "between");
  }
  if (StepsAreOwnWork(evidence, evidence.trainers)) {
    add("device", "this machine has no accelerator: a step's own work is the processors'");
  }
  if (!report.trace.tables.empty()) {
    add("tables", "events that the program, its libraries or a trace of it told of; rows are sums");
  }
  return how;
}

void AddUnseen(Report& report) {
  const auto add = [&](bool missing, const char* why) {
    if (missing) report.unseen.emplace_back(why);
  };
  const Job& job = report.job;
  add(!job.gpus, "which GPUs the program used: not known");
  add(!job.rank && job.rank_unseen.empty(), "rank: no launcher (torchrun, MPI, Slurm) named one");
  add(!job.begin, "when the job began: its trace counts from a time of its own");
  add(job.host.empty() || job.user.empty(), "host and user: a trace does not name them");
  add(!job.exit_code, "exit code: known only of a command that was run");
  add(!report.stages.empty() && std::none_of(report.stages.begin(), report.stages.end(),
                                             [](const auto& stage) { return stage.ceiling; }),
      "ceilings of the loader's stages: not measured in this run");
}

}  // namespace recpack::probe
