// A trained network in integers.
#pragma once

#include <memory>

#include "src/train/cpu/folded_network.h"
#include "src/train/cpu/quantised_network.h"
#include "src/train/run/evaluated_model.h"
#include "src/train/run/evaluator.h"

namespace recpack::train {

struct QuantisedModel {
  std::unique_ptr<QuantisedNetwork> network;
  std::unique_ptr<FoldedNetwork> folded;  // the same in f32
  Tensor logits;                          // what Run() of both leaves
  uint64_t calibrated_on = 0;             // samples
};

// By batches of options.data, which the model has run over afterwards. Throws Error: what the
// loader throws; kInvalidArgument where there is no batch, or labels are out of range; kUnsupported
// for networks that stay in f32.
QuantisedModel QuantiseModel(EvaluatedModel& model, TrainerOptions options,
                             const CalibrationOptions& calibration);

}  // namespace recpack::train
