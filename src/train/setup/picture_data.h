// Chooses recipe, image size and classes of a training on pictures from its data.
#pragma once

#include <string>

#include "recpack/loader/dataset.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Opens a split of the training's data, with its names of features.
Dataset OpenSplit(const TrainerOptions& options, const std::string& split);

// Fills what `options.pictures` leaves open and sets the model's sizes from it. Reads the data only
// if something is open. Throws Error: errors of opening the data; kInvalidArgument if the records
// have no picture that a recipe reads, or if the number of classes is not known.
void CompletePictures(TrainerOptions& options);

// Returns the fields of a recipe for images of `size` pixels: random and central crops are made of
// that size, in proportion. Throws Error (kInvalidArgument) for an unknown recipe, or one whose
// images cannot have another size.
std::vector<Field> SizedRecipe(const std::string& recipe, int64_t size);

}  // namespace recpack::train
