// Models by name: what they are made of and what they read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/loader/field.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// With what the model and the data say where nothing is given: rate, decay, size of the vocabulary.
// Throws Error: kInvalidArgument for a model that there is not; what reading the vocabulary throws.
TrainerOptions CompleteOptions(TrainerOptions options);

std::unique_ptr<Model> MakeModel(const TrainerOptions& options, const ModelContext& context);

// Height and width of the pictures that resnet or alexnet reads.
int64_t PictureSize(const TrainerOptions& options);

// What the loader gives of each sample.
std::vector<Field> ModelFields(const TrainerOptions& options, bool training);

// What LossSums::bad_labels counts.
struct LabelRange {
  const char* name;  // "labels"
  int64_t size;      // 0 to size - 1
  const char* fix;
};
LabelRange ModelLabels(const TrainerOptions& options);

// Throws Error (kInvalidArgument) where labels were out of range. `where`: "of step 7"; `token`:
// the batch's.
void CheckLabels(const TrainerOptions& options, const LossSums& sums, const std::string& where,
                 const std::string& token);

}  // namespace recpack::train
