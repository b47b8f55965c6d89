// A training that is only an experiment of recprobe gain.
#pragma once

#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Where the environment asks for such a run: without what a training leaves behind (checkpoints,
// ledger), without evaluation and timed inputs, on real input, and without end, but for
// `max_steps`. Tells what was asked for and is left out. Else the options as they are.
TrainerOptions OfGainRun(TrainerOptions options, const TrainerNotice& notice);

}  // namespace recpack::train
