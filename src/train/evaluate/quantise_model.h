// Quantises a trained network to 8-bit integers.
#pragma once

#include <memory>

#include "src/train/cpu/folded_network.h"
#include "src/train/cpu/quantised_network.h"
#include "src/train/evaluate/evaluated_model.h"
#include "src/train/evaluate/evaluator.h"
#include "src/train/evaluate/ranges_file.h"

namespace recpack::train {

struct QuantisedModel {
  std::unique_ptr<QuantisedNetwork> network;
  std::unique_ptr<FoldedNetwork> folded;  // the same in f32
  Tensor logits;                          // output of both networks' Run()
  SavedRanges saved;                      // of the calibration
};

// Calibrates on batches of options.data, or takes the ranges of a file; the model has run
// afterwards. Throws Error: errors of the loader and of ReadRanges(); kInvalidArgument if there is
// no batch, if labels are out of range, or for ranges of another network; kUnsupported for networks
// that cannot be quantised.
QuantisedModel QuantiseModel(EvaluatedModel& model, TrainerOptions options,
                             const CalibrationOptions& calibration);

}  // namespace recpack::train
