// Models by name: construction, input fields and labels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/loader/field.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

std::unique_ptr<Model> MakeModel(const TrainerOptions& options, const ModelContext& context);

// The operations of MakeModel(), without making memory for it.
ModelGraph MakeGraph(const TrainerOptions& options);

// Height and width of the images that the model reads.
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

}  // namespace recpack::train
