// Options for training runs that recprobe gain starts as experiments.
#pragma once

#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// If the environment asks for such a run, returns the options without checkpoints, ledger,
// evaluation, audits and timed inputs, with real input, at the learning rate 0, and unlimited
// except for `max_steps`; reports which requested options are dropped. Otherwise returns the
// options unchanged.
TrainerOptions AdaptToGainRun(TrainerOptions options, const TrainerNotice& notice);

}  // namespace recpack::train
