// Trainings that differ in some of their options, timed in turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/train/run/trainer.h"
#include "src/train/setup/choices.h"
#include "src/train/setup/step_timing.h"

namespace recpack::train {

// One option, and what is tried of it: devices, threads, or one of choices.h.
struct SweepAxis {
  std::string name;
  TrainerChoices choices;
};

// One combination.
struct SweepCase {
  std::vector<std::string> names;  // of the choices, in the order of the axes
  TrainerOptions options;
};

struct SweepPlan {
  std::vector<std::string> axes;
  std::vector<SweepCase> cases;
  std::vector<std::string> left_out;  // a text for each combination that is not among them
};

// All combinations, the last axis turning fastest, but for those that are the same training as an
// earlier one: one device has nothing to spread, deepconn has no pictures, and so on.
SweepPlan PlanSweep(const TrainerOptions& base, const std::vector<SweepAxis>& axes);

// One case in one round.
struct SweepRun {
  size_t of = 0;  // in SweepPlan::cases
  int round = 0;
  StepTiming timing;
  std::string error = {};  // empty: it was timed
};

struct SweepOptions {
  int64_t steps = 20;  // that are timed of a case in a round
  int64_t warmup = 8;  // before them: as many batches as the loader makes ahead
  int rounds = 3;
};

// Each round runs every case once, as a training of its own that makes the timed steps alone:
// nothing is learned or evaluated, and its variables are as at the start. Those among `done` are
// not run again. A case that fails is reported with its error and left out of later rounds. Throws
// only what `report` throws.
void RunSweep(const SweepPlan& plan, const SweepOptions& options, const std::vector<SweepRun>& done,
              const std::function<void(const SweepRun& run)>& report);

}  // namespace recpack::train
