// Sweeps: trainings with different options, timed in turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/train/run/trainer.h"
#include "src/train/setup/choices.h"
#include "src/train/setup/step_timing.h"

namespace recpack::train {

// One option and the values to try: devices, threads, or a list of choices.h.
struct SweepAxis {
  std::string name;
  TrainerChoices choices;
};

// One combination of choices.
struct SweepCase {
  std::vector<std::string> names;  // of the choices, in the order of the axes
  TrainerOptions options;
};

struct SweepPlan {
  std::vector<std::string> axes;
  std::vector<SweepCase> cases;
  std::vector<std::string> left_out;  // description of each omitted combination
};

// All combinations, with the last axis varying fastest. Omits those that give the same training as
// an earlier one: a single device has nothing to spread, deepconn has no images, and so on.
SweepPlan PlanSweep(const TrainerOptions& base, const std::vector<SweepAxis>& axes);

// One case in one round.
struct SweepRun {
  size_t of = 0;  // index in SweepPlan::cases
  int round = 0;
  StepTiming timing;
  std::string error = {};  // empty: success
};

struct SweepOptions {
  int64_t steps = 20;  // timed steps per case and round
  int64_t warmup = 8;  // untimed steps before them: as many batches as the loader prefetches
  int rounds = 3;
};

// Each round runs every case once, as a training that makes only the timed steps, with learning
// rate 0 and without evaluation. Runs that are among `done` are skipped. A case that fails is
// reported with its error and left out of later rounds. Throws only what `report` throws.
void RunSweep(const SweepPlan& plan, const SweepOptions& options, const std::vector<SweepRun>& done,
              const std::function<void(const SweepRun& run)>& report);

}  // namespace recpack::train
