// Test cases for finishing: images, options and geometries.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "recpack/base/random.h"
#include "recpack/kernels/finish.h"

namespace recpack {

inline constexpr ElementType kTypes[] = {ElementType::kU8, ElementType::kF16, ElementType::kBf16,
                                         ElementType::kF32};
inline constexpr ImageLayout kLayouts[] = {ImageLayout::kNhwc, ImageLayout::kNchw};

inline std::vector<uint8_t> Noise(const FinishOptions& o) {
  std::vector<uint8_t> image(static_cast<size_t>(o.in_height * o.in_width * o.channels));
  KeyedRandom random(image.size(), 0, 0);
  for (uint8_t& value : image) value = static_cast<uint8_t>(random.NextBelow(256));
  return image;
}

inline FinishOptions OptionsOf(ElementType type) {
  FinishOptions o;
  o.type = type;
  o.fill = 93;
  o.scale = {0.017124753F, -0.0175070F, 0.0174291F, 3.7F};
  o.bias = {-2.1179039F, -2.0357144F, 1.8044444F, 0.25F};
  return o;
}

inline std::string Describe(const FinishOptions& o, const FinishGeometry& g) {
  return std::string(ElementName(o.type)) + " " + std::to_string(o.in_width) + "x" +
         std::to_string(o.in_height) + " to " + std::to_string(o.out_width) + "x" +
         std::to_string(o.out_height) + ", " + std::to_string(o.channels) + " channels, layouts " +
         std::to_string(static_cast<int>(o.in_layout)) + " " +
         std::to_string(static_cast<int>(o.out_layout)) + ", at " + std::to_string(g.x) + " " +
         std::to_string(g.y) + (g.flip ? " flipped" : "");
}

inline std::vector<FinishGeometry> Places(const FinishOptions& o) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  std::vector<FinishGeometry> places;
  for (const bool flip : {false, true}) {
    places.push_back({0, 0, flip});
    places.push_back({o.in_width / 4, 1, flip});                // to the right of the source's left
    places.push_back({-4, -2, flip});                           // over its upper left corner
    places.push_back({o.in_width - o.out_width + 3, 1, flip});  // over its right side
    places.push_back({-o.out_width, 0, flip});                  // just beside it
    places.push_back({0, o.in_height, flip});                   // just below
    places.push_back({kMin, kMax, flip});
    places.push_back({kMax, kMin, flip});
  }
  return places;
}

// Calls `visit` with options of `type` for source widths from 1 to 70, with results of the same,
// smaller and larger width and every layout; stops if it returns false. `step`: 1 for all of them.
template <class Visit>
void VisitOptions(ElementType type, int step, const Visit& visit) {
  FinishOptions o = OptionsOf(type);
  for (int i = 0; i < 70 * 4 * 3 * 4; i += step) {
    const int wider = std::array{0, 8, -5}[static_cast<size_t>(i / 4 % 3)];
    o.in_layout = kLayouts[i % 2];
    o.out_layout = kLayouts[i / 2 % 2];
    o.channels = 1 + i / 12 % 4;
    o.in_width = 1 + i / 48;
    o.in_height = 1 + o.in_width % 4;
    o.out_width = std::max(1, o.in_width + wider);
    o.out_height = std::max(1, o.in_height + wider / 5);
    if (!visit(o)) return;
  }
}

}  // namespace recpack
