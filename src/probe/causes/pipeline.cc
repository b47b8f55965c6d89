#include "src/probe/causes/pipeline.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "recpack/loader/stats.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {
namespace {

constexpr double kMostlyWorking = 0.5;  // of a worker's time, at least of one thread
constexpr double kHardlyWaits = 0.02;   // of step time
constexpr double kMostlyRunning = 0.5;  // of the waits of a thread that makes its batches itself

double Queued(const ThreadRates& thread) { return thread.run_queue_wait_share.value_or(0); }

// Part of the time for which threads want a processor that they would be spared without others:
// the program would get as many processors as it wants, or all.
double SparedPart(const SystemRates& system) {
  double wants = 0, gets = 0;
  for (const ThreadRates& thread : system.threads) {
    wants += Wanted(thread);
    gets += thread.cpu_share;
  }
  const double could = std::min(wants, static_cast<double>(system.allowed_cores));
  return could > gets ? 1 - gets / could : 0;
}

std::vector<const ThreadRates*> TrainingThreads(const SystemRates& system,
                                                const std::vector<TrainerSteps>& trainers) {
  std::vector<const ThreadRates*> threads;
  for (const ThreadRates& thread : system.threads) {
    const bool trains = std::ranges::any_of(trainers, [&](const TrainerSteps& trainer) {
      return thread.process == trainer.process &&
             static_cast<uint32_t>(thread.thread) == trainer.lane;
    });
    if (trains) threads.push_back(&thread);
  }
  return threads;
}

// Part of the time in which the training threads sleep or wait for a processor, but for waits.
double Sleeps(const std::vector<const ThreadRates*>& threads, double own) {
  double cpu = 0;
  for (const ThreadRates* thread : threads) cpu += thread->cpu_share;
  if (threads.empty() || own <= 0) return 0;
  return 1 - std::min(1.0, cpu / static_cast<double>(threads.size()) / own);
}

// A thread that sleeps in its step waits for a processor when its batch has come: one that computes
// does so within the step.
double QueuedInWait(const Queueing& own, const std::vector<const ThreadRates*>& training,
                    double wait, double work) {
  return std::min(wait, own.waited * Sleeps(training, work));
}

// Part of the used processors that this program uses.
double UsedByProgram(const SystemRates& system) {
  const double others = system.others_cores.value_or(0);
  return system.tree_cores > 0 ? system.tree_cores / (system.tree_cores + others) : 0;
}

// The training thread is busy during its input waits.
bool MakesItself(const TrainerSteps& trainer) { return BusyInWaits(trainer) > kMostlyRunning; }

// A DataLoader without workers.
bool LoadsItself(const Evidence& evidence, const TrainerSteps& trainer) {
  const InputSettings* const settings = FindSettings(evidence, trainer.process);
  return settings != nullptr && settings->has_no_workers();
}

// Share of the time in which busy workers worked; nullopt if there are none.
std::optional<double> WorkersShare(const Evidence& evidence) {
  double working = 0, all = 0;
  for (const InputWork& work : evidence.input_works) {
    if (!IsBusy(work)) continue;
    working += Working(work) * work.seconds;
    all += (Working(work) + work.waiting) * work.seconds;
  }
  if (all <= 0) return {};
  return working / all;
}

// The makers' work on a batch, of a training that hardly waits for it: a step cannot get shorter
// than that. Their waits for a processor are left out, as the step's own work may cause them.
double MakingInTime(const Evidence& evidence) {
  const auto work = FindLoaderWork(evidence.loaders);
  if (!work || !evidence.system) return 0;
  const Queueing queueing = FindQueueing(*evidence.system, work->process, work->workers);
  return std::max(0.0, 1 - work->Share(Stage::kRoom) - queueing.waited);
}

}  // namespace

double Pipeline::bursts() const { return std::max(0.0, 1 - std::max(making, own() + queued)); }

double Pipeline::Saved(double of_making, double of_own) const {
  const double part = making > 0 ? std::min(1.0, of_making / making) : 0;
  return Saved(of_making, of_own, part * queued_by_makers);
}

double Pipeline::SavedWithoutOthers() const {
  return Saved(made_delayed, own_delayed, queued - queued_by_makers);
}

double Pipeline::Saved(double of_making, double of_own, double of_queued) const {
  const double made = std::max(0.0, making - of_making);
  const double step = std::max(0.0, own() + queued - of_own - of_queued);
  if (!ahead) return std::clamp(1 - made - step, 0.0, 1.0);
  // Bursts are as long as the makers' work.
  const double left = making > 0 ? bursts() * made / making : 0;
  return std::clamp(1 - std::max(made, step) - left, 0.0, 1.0);
}

Pipeline MakePipeline(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                      const Verdict& verdict, const LoaderWork* work) {
  Pipeline pipeline{.wait = verdict.input_share.value};
  const auto workers = FindWorkers(evidence);
  const auto share = WorkersShare(evidence);
  const TrainerSteps& slowest = trainers[WaitsLongest(trainers)];
  if (verdict.band == Band::kUnknown) {
    pipeline.making = 0;  // what the makers could do is of no use
  } else if (pipeline.wait < kHardlyWaits) {
    pipeline.making = MakingInTime(evidence);
  } else if (work != nullptr) {
    pipeline.making = 1 - work->Share(Stage::kRoom);
  } else if (LoadsItself(evidence, slowest) || (!share && MakesItself(slowest))) {
    pipeline.ahead = false;
    pipeline.making = pipeline.wait;
  } else if (share) {
    pipeline.restarts = std::min(pipeline.wait, ShareOfTime(slowest, &StepRecord::restart));
    pipeline.making = *share;
  }
  if (!evidence.system) return pipeline;
  const SystemRates& system = *evidence.system;
  const auto training = TrainingThreads(system, trainers);
  const Queueing own = FindQueueing(system, training);
  const Queueing made = work != nullptr   ? FindQueueing(system, work->process, work->workers)
                        : workers.empty() ? FindQueueing(system, 0, 1)
                                          : FindQueueing(system, workers);
  if (pipeline.ahead) {
    pipeline.queued = QueuedInWait(own, training, pipeline.wait, pipeline.own());
    pipeline.queued_by_makers = pipeline.queued * UsedByProgram(system);
    pipeline.own_delayed = std::min(std::max(0.0, own.spared - pipeline.queued), pipeline.own());
    // Stages that wait for disks or for room want no processor.
    double waiting = 0;
    if (work != nullptr) waiting = work->Share(Stage::kInput);
    pipeline.made_delayed = std::min(made.spared, std::max(0.0, pipeline.making - waiting));
  } else {
    pipeline.own_delayed = own.spared * pipeline.own();
    pipeline.made_delayed = own.spared * pipeline.wait;
  }
  return pipeline;
}

double QueuedForOthers(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                       double wait) {
  const TrainerSteps& slowest = trainers[WaitsLongest(trainers)];
  // A thread that makes its batches waits in the midst of that.
  if (!evidence.system || LoadsItself(evidence, slowest) || MakesItself(slowest)) return 0;
  const SystemRates& system = *evidence.system;
  const auto training = TrainingThreads(system, trainers);
  const Queueing own = FindQueueing(system, training);
  return QueuedInWait(own, training, wait, 1 - wait) * (1 - UsedByProgram(system));
}

Queueing FindQueueing(const SystemRates& system, const std::vector<const ThreadRates*>& threads) {
  Queueing queueing;
  if (threads.empty()) return queueing;
  const auto count = static_cast<double>(threads.size());
  for (const ThreadRates* thread : threads) {
    queueing.waited += Queued(*thread) / count;
    queueing.spared += Wanted(*thread) / count;
  }
  queueing.spared = std::min(queueing.waited, queueing.spared * SparedPart(system));
  return queueing;
}

Queueing FindQueueing(const SystemRates& system, int process, size_t count) {
  std::vector<const ThreadRates*> threads;
  for (const ThreadRates& thread : system.threads) {
    if (process == 0 || thread.process == process) threads.push_back(&thread);
  }
  std::ranges::stable_sort(threads, std::greater(),
                           [](const ThreadRates* thread) { return Wanted(*thread); });
  threads.resize(std::min(count, threads.size()));
  return FindQueueing(system, threads);
}

Queueing FindOwnQueueing(const SystemRates& system, const std::vector<TrainerSteps>& trainers) {
  const ThreadRates* busiest = nullptr;
  for (const ThreadRates& thread : system.threads) {
    const bool own = std::ranges::count(trainers, thread.process, &TrainerSteps::process) > 0;
    if (!own || thread.name == kLoaderThreadName) continue;
    if (busiest == nullptr || Wanted(thread) > Wanted(*busiest)) busiest = &thread;
  }
  return busiest == nullptr ? Queueing{} : FindQueueing(system, {busiest});
}

double BusyInWaits(const TrainerSteps& trainer) {
  double waits = 0, busy = 0;
  for (const StepRecord& step : trainer.steps) {
    waits += static_cast<double>(step.input_wait);
    busy += static_cast<double>(step.busy_wait);
  }
  return waits > 0 ? busy / waits : 0;
}

std::vector<const ThreadRates*> FindWorkers(const Evidence& evidence) {
  std::vector<const ThreadRates*> workers;
  if (!evidence.system) return workers;
  for (const InputWork& work : evidence.input_works) {
    if (!IsBusy(work)) continue;
    const bool trains =
        std::ranges::count(evidence.trainers, work.process, &TrainerSteps::process) > 0;
    for (const ThreadRates& thread : evidence.system->threads) {
      if (!trains && thread.process == work.process && thread.thread == work.process) {
        workers.push_back(&thread);
      }
    }
  }
  return workers;
}

double Working(const InputWork& work) {
  double threads = 0;
  for (const auto& [place, each] : work.threads) threads += each;
  return threads;
}

// Processes that are not busy have no work: their loader has its batches ready, or belongs to an
// evaluation that does not run.
bool IsBusy(const InputWork& work) {
  const double working = Working(work);
  return working >= kMostlyWorking * std::max(1.0, working + work.waiting);
}

}  // namespace recpack::probe
