// Model of a training step and the input that feeds it: predicts what a cure would save.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// All times are shares of the mean step. A step lasts as long as the slower of two things that run
// side by side: its own work, and the making of a batch. If the training thread makes its batches
// itself, it lasts as long as both.
struct Pipeline {
  double wait = 0;          // of the training for its input
  double making = 1;        // the makers' work on a batch, waits for processors and disks included
  double restarts = 0;      // part of `wait`: workers start again
  bool ahead = true;        // batches are made by others than the training thread
  double own_delayed = 0;   // part of the step's own work that waits for a processor
  double made_delayed = 0;  // the same of `making`
  // Part of `wait` in which the training thread waits for a processor: no batch is late then.
  double queued = 0;
  double queued_by_makers = 0;  // part of it in which the makers use the processors

  double own() const { return 1 - wait + restarts; }
  // Waits though the makers are fast enough on average: batches come in bursts.
  double bursts() const;
  // Share of step time that is saved if making a batch and the step's own work get shorter.
  double Saved(double of_making, double of_own = 0) const;
  // The same if other programs used no processor.
  double SavedWithoutOthers() const;

 private:
  double Saved(double of_making, double of_own, double of_queued) const;
};

// `work`: of the recpack loader that the training waits for; nullptr without one.
Pipeline MakePipeline(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                      const Verdict& verdict, const LoaderWork* work);

// Part of the training's wait for input in which it waits for a processor that other programs use:
// a perfect input need not spare it, as a thread that sleeps in its step waits so as well.
double QueuedForOthers(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                       double wait);

// Share of the time in which a thread ran or waited for a processor.
inline double Wanted(const ThreadRates& thread) {
  return thread.cpu_share + thread.run_queue_wait_share.value_or(0);
}

// Mean share of time in the run queue of the `count` threads of a process (0: of all) that wanted a
// processor most, or of these threads only.
struct Queueing {
  double waited = 0;  // of the time, in the run queue
  double spared = 0;  // part of it that would be saved if nothing else used the processors
};
Queueing FindQueueing(const SystemRates& system, int process, size_t count);
Queueing FindQueueing(const SystemRates& system, const std::vector<const ThreadRates*>& threads);

// The same of the busiest thread that may do a device's work: of the trainers' processes, without
// the threads of their loaders.
Queueing FindOwnQueueing(const SystemRates& system, const std::vector<TrainerSteps>& trainers);

// Part of a training thread's waits for input in which it ran itself. 0 if that is unknown, as in
// traces of other profilers.
double BusyInWaits(const TrainerSteps& trainer);

// Threads that make the input in other processes than the trainers': the main threads of busy
// workers. Empty if none were seen.
std::vector<const ThreadRates*> FindWorkers(const Evidence& evidence);

// Tells whether a process made input most of the time.
bool IsBusy(const InputWork& work);
// Number of its threads at work, on average.
double Working(const InputWork& work);

}  // namespace recpack::probe
