// Fields by name: what the reference trainings of torchvision do.
#pragma once

#include <string>
#include <vector>

#include "recpack/loader/field.h"

namespace recpack {

// "cifar10-train": pad 4 and crop 32, flip, normalise; "cifar10-eval"; "imagenet-train":
// random-resized-crop 224 with antialias, flip, normalise; "imagenet-train-randaugment" and
// "imagenet-train-trivialaugment" add one, bilinear, behind the flip, as torchvision's
// --auto-augment ra and ta_wide do; "imagenet-eval": shorter side 256, middle 224. Each gives
// "image" (f32, NCHW) and "label" (i64). Constants: torchvision's references/classification for
// ImageNet, the data set's own mean and deviation for CIFAR-10. Throws Error (kInvalidArgument)
// that lists the names.
std::vector<Field> Recipe(const std::string& name);

std::vector<std::string> RecipeNames();

// The names in one line, for help and messages.
std::string RecipeList();

}  // namespace recpack
