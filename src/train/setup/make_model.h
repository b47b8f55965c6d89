// Models by name: construction, options, input fields and labels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/loader/field.h"
#include "src/train/checkpoint/checkpoint.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Fills unset options from the model and the data: rate, decay, vocabulary size. Throws Error:
// kInvalidArgument for an unknown model; errors of reading the vocabulary.
TrainerOptions CompleteOptions(TrainerOptions options);

std::unique_ptr<Model> MakeModel(const TrainerOptions& options, const ModelContext& context);

// Height and width of the images that resnet or alexnet reads.
int64_t PictureSize(const TrainerOptions& options);

// Fields that the loader provides per sample.
std::vector<Field> ModelFields(const TrainerOptions& options, bool training);

// Valid range of what LossSums::bad_labels counts.
struct LabelRange {
  const char* name;  // "labels"
  int64_t size;      // valid: 0 to size - 1
  const char* fix;
};
LabelRange ModelLabels(const TrainerOptions& options);

// Throws Error (kInvalidArgument) if labels were out of range. `where`: "of step 7"; `token`: the
// batch's.
void CheckLabels(const TrainerOptions& options, const LossSums& sums, const std::string& where,
                 const std::string& token);

// Sets the model and its options from the checkpoint. Throws Error with `path`: kUnsupported for an
// unknown model, kCorrupt for invalid options.
void TakeModel(const CheckpointInfo& info, const std::string& path, TrainerOptions& options);

}  // namespace recpack::train
