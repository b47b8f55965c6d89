// Quantises a trained network to 8-bit integers.
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
  Tensor logits;                          // output of both networks' Run()
  uint64_t calibrated_on = 0;             // number of samples
};

// Calibrates on batches of options.data, on which the model has run afterwards. Throws Error:
// errors of the loader; kInvalidArgument if there is no batch, or labels are out of range;
// kUnsupported for networks that cannot be quantised.
QuantisedModel QuantiseModel(EvaluatedModel& model, TrainerOptions options,
                             const CalibrationOptions& calibration);

}  // namespace recpack::train
