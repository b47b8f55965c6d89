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
// replicated, distributed_replicated, parameter_server, auto
const TrainerChoices& StrategyChoices();
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
const TrainerChoices& WordTableChoices();     // shared, separate
const TrainerChoices& InputChoices();         // real, cached, synthetic

// Where one model's operations are, for --devices: "one" (the whole model on the first of them),
// "towers" (a tower of deepconn on each of the first two), or another text that --place takes. To
// apply it throws Error (kInvalidArgument) if there are too few devices.
TrainerChoice PlacementChoice(const std::string& name);

// Sets the pooling of deepconn: "all", or "WINDOW/STRIDE". Throws Error (kInvalidArgument) for
// other texts.
void ParsePooling(const std::string& text, DeepconnOptions& options);
std::string PoolingText(const DeepconnOptions& options);

}  // namespace recpack::train
