// Draws the pictures of the synthetic CIFAR-10.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "recpack/base/random.h"

namespace recpack::stand_in {

inline constexpr std::string_view kClasses[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                "dog",      "frog",       "horse", "ship", "truck"};
inline constexpr size_t kPixels = 3072;

// Draws one picture of class `label` (below 10): 32x32, planar red, green, blue. `random`
// determines its appearance. Uses only additions, multiplications and comparisons of floats, so
// that the bytes are the same on every machine.
void DrawPicture(uint32_t label, KeyedRandom& random, std::span<uint8_t, kPixels> out);

}  // namespace recpack::stand_in
