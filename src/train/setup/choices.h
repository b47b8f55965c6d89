// Option values by the names that users write.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/train/setup/trainer_options.h"

namespace recpack::train {

struct TrainerChoice {
  std::string name;
  std::function<void(TrainerOptions& options)> apply;
};

// The choices of one option; the first is the default.
using TrainerChoices = std::vector<TrainerChoice>;

const TrainerChoices& TypeChoices();            // f32, bf16
const TrainerChoices& LayoutChoices();          // nhwc, nchw
const TrainerChoices& NormChoices();            // fused, unfused
const TrainerChoices& NormStatisticsChoices();  // local, sync
const TrainerChoices& StrategyChoices();  // replicated, distributed_replicated, parameter_server
// The strategy, the place of the variables and synchronous or asynchronous updates in one name:
// replicated, distributed_replicated, parameter_server, parameter_server/device,
// parameter_server/spread, async, async/device, async/spread.
const TrainerChoices& WholeStrategyChoices();
const TrainerChoices& SumChoices();           // auto, nccl, host
const TrainerChoices& VariableChoices();      // cpu, device, spread
const TrainerChoices& BindingChoices();       // free, bound
const TrainerChoices& GraphChoices();         // on, off
const TrainerChoices& WeightStreamChoices();  // on, off
const TrainerChoices& OptimizerChoices();     // auto (the model's default), sgd, adam
const TrainerChoices& BadRecordChoices();     // fail, substitute
const TrainerChoices& InputChoices();         // real, cached, synthetic

}  // namespace recpack::train
