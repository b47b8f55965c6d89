// Colour jitter as in torchvision.
#pragma once

#include "recpack/base/random.h"
#include "recpack/image/image.h"
#include "recpack/loader/augment.h"

namespace recpack {

// Throws Error (kInvalidArgument) for invalid options.
void CheckColourJitter(const ColourJitter& jitter);

// In place. Draws the same number of random numbers whatever the options are.
void JitterColours(const ColourJitter& jitter, KeyedRandom& random, Image& image);

}  // namespace recpack
