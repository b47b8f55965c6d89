// Which colours a picture gets.
#pragma once

#include "recpack/base/random.h"
#include "recpack/image/image.h"
#include "recpack/loader/augment.h"

namespace recpack {

// Throws Error (kInvalidArgument) for strengths that cannot be.
void CheckColourJitter(const ColourJitter& jitter);

// In place; draws as many numbers whatever the options are.
void JitterColours(const ColourJitter& jitter, KeyedRandom& random, Image& image);

}  // namespace recpack
