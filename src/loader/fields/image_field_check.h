// Checks the options of an image field.
#pragma once

#include "recpack/loader/field.h"

namespace recpack {

// Tells whether the field has augmentations besides crop, flip and erasing.
bool IsAugmented(const ImageField& field);

// Throws Error (kInvalidArgument) for options that are out of range or contradict each other.
void CheckImageField(const ImageField& field);

}  // namespace recpack
