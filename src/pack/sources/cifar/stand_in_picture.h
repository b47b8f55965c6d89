// The pictures of the stand-in for CIFAR-10.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "recpack/base/random.h"

namespace recpack::pack {

inline constexpr std::string_view kStandInClasses[] = {
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
inline constexpr size_t kStandInPixels = 3072;

// Draws one picture of class `label` (below 10): 32x32, planar red, green, blue. What it looks like
// is drawn from `random`. Only additions, multiplications and comparisons of floats: the same bytes
// on every machine.
void DrawStandIn(uint32_t label, KeyedRandom& random, std::span<uint8_t, kStandInPixels> out);

}  // namespace recpack::pack
