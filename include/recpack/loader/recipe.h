// Recipes: named lists of fields, as in torchvision's reference trainings.
#pragma once

#include <string>
#include <vector>

#include "recpack/loader/field.h"

namespace recpack {

// Returns the fields of a recipe: "cifar10-train": pad 4, crop 32, flip, normalise; "cifar10-eval";
// "imagenet-train": random-resized-crop 224 with antialias, flip, normalise;
// "imagenet-train-randaugment" and "imagenet-train-trivialaugment": the same with the policy,
// bilinear, after the flip, as torchvision's --auto-augment ra and ta_wide; "imagenet-eval": resize
// the shorter side to 256, centre crop 224. Each has "image" (f32, NCHW) and "label" (i64).
// Constants: torchvision's references/classification for ImageNet, the data set's own mean and
// deviation for CIFAR-10. Throws Error (kInvalidArgument) that lists the names if there is no
// recipe `name`.
std::vector<Field> Recipe(const std::string& name);

std::vector<std::string> RecipeNames();

// Returns the names in one line, for help and messages.
std::string RecipeList();

}  // namespace recpack
