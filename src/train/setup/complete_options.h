// Completes the options of a training by its model and data, and checks them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Names of the models that can be trained; "resnet" is "resnet18", and "vgg" is
// "vgg16".
std::vector<std::string> ModelNames();

// The batch size per device that is used where the options say 0. `options`: of a known model and
// image size.
uint32_t DefaultBatchSize(const TrainerOptions& options);

// Fills unset options from the model and the data: rate, decay, vocabulary size. Throws Error:
// kInvalidArgument for an unknown model; errors of reading the vocabulary.
TrainerOptions CompleteOptions(TrainerOptions options);

}  // namespace recpack::train
