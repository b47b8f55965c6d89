#include "recpack/kernels/finish.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/finish.h"
#include "recpack/base/random.h"
#include "tests/kernels/finish_paths.h"
#include "tests/kernels/naive_finish.h"

namespace recpack {
namespace {

constexpr ElementType kTypes[] = {ElementType::kU8, ElementType::kF16, ElementType::kBf16,
                                  ElementType::kF32};
constexpr ImageLayout kLayouts[] = {ImageLayout::kNhwc, ImageLayout::kNchw};

std::vector<uint8_t> Noise(const FinishOptions& o) {
  std::vector<uint8_t> image(static_cast<size_t>(o.in_height * o.in_width * o.channels));
  KeyedRandom random(image.size(), 0, 0);
  for (uint8_t& value : image) value = static_cast<uint8_t>(random.NextBelow(256));
  return image;
}

FinishOptions OptionsOf(ElementType type) {
  FinishOptions o;
  o.type = type;
  o.fill = 93;
  o.scale = {0.017124753F, -0.0175070F, 0.0174291F, 3.7F};
  o.bias = {-2.1179039F, -2.0357144F, 1.8044444F, 0.25F};
  return o;
}

// Runs `finish` into memory between two guards, aligned to nothing.
template <class Finish>
std::vector<uint8_t> Guarded(size_t size, const Finish& finish) {
  constexpr size_t kGuard = 65;
  std::vector<uint8_t> memory(size + 2 * kGuard, 0xa5);
  finish(memory.data() + kGuard);
  const auto untouched = [](uint8_t byte) { return byte == 0xa5; };
  EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + kGuard, untouched));
  EXPECT_TRUE(std::all_of(memory.end() - kGuard, memory.end(), untouched));
  return {memory.begin() + kGuard, memory.end() - kGuard};
}

std::string Describe(const FinishOptions& o, const FinishGeometry& g) {
  return std::string(ElementName(o.type)) + " " + std::to_string(o.in_width) + "x" +
         std::to_string(o.in_height) + " to " + std::to_string(o.out_width) + "x" +
         std::to_string(o.out_height) + ", " + std::to_string(o.channels) + " channels, layouts " +
         std::to_string(static_cast<int>(o.in_layout)) + " " +
         std::to_string(static_cast<int>(o.out_layout)) + ", at " + std::to_string(g.x) + " " +
         std::to_string(g.y) + (g.flip ? " flipped" : "");
}

std::vector<FinishGeometry> Places(const FinishOptions& o) {
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

using Check = void (*)(CpuLevel, const FinishOptions&, const FinishGeometry&,
                       const std::vector<uint8_t>& image, const std::vector<uint8_t>& expected);

// Every pair of layouts and every place, for one size.
void CheckSize(CpuLevel level, const NaiveFinisher& naive, FinishOptions o, Check check) {
  const std::vector<uint8_t> image = Noise(o);
  for (const ImageLayout in : kLayouts) {
    for (const ImageLayout out : kLayouts) {
      o.in_layout = in;
      o.out_layout = out;
      for (const FinishGeometry& place : Places(o)) {
        check(level, o, place, image, naive(o, image, place));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

void CheckFinisher(CpuLevel level, const FinishOptions& o, const FinishGeometry& g,
                   const std::vector<uint8_t>& image, const std::vector<uint8_t>& expected) {
  const Finisher finisher(o, level);
  ASSERT_EQ(finisher.out_bytes(), expected.size());
  const auto finish = [&](void* out) { finisher(image.data(), g, out); };
  ASSERT_EQ(Guarded(expected.size(), finish), expected) << Describe(o, g);
}

void CheckDefinition(CpuLevel, const FinishOptions& o, const FinishGeometry& g,
                     const std::vector<uint8_t>& image, const std::vector<uint8_t>& expected) {
  std::vector<uint8_t> out(expected.size());
  for (int y = 0; y < o.out_height; ++y) {
    for (int x = 0; x < o.out_width; ++x) {
      for (int c = 0; c < o.channels; ++c) FinishElement(o, image.data(), g, c, y, x, out.data());
    }
  }
  ASSERT_EQ(out, expected) << Describe(o, g);
}

// Widths of the source from 1 to 70, to results as wide, narrower and wider.
void Sweep(CpuLevel level, ElementType type, int step, Check check) {
  FinishOptions o = OptionsOf(type);
  const NaiveFinisher naive(o);
  for (int i = 0; i < 70 * 4 * 3; i += step) {
    const int wider = std::array{0, 8, -5}[static_cast<size_t>(i % 3)];
    o.channels = 1 + i / 3 % 4;
    o.in_width = 1 + i / 12;
    o.in_height = 1 + o.in_width % 4;
    o.out_width = std::max(1, o.in_width + wider);
    o.out_height = std::max(1, o.in_height + wider / 5);
    CheckSize(level, naive, o, check);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(FinishElement, IsWhatItsDescriptionSays) {
  for (const ElementType type : kTypes) Sweep(CpuLevel::kPortable, type, 7, CheckDefinition);
}

class FinishPaths : public testing::TestWithParam<CpuLevel> {};

TEST_P(FinishPaths, EverySizeTypeLayoutAndPlace) {
  for (const ElementType type : kTypes) Sweep(GetParam(), type, 1, CheckFinisher);
}

TEST_P(FinishPaths, CropsOfCifar) {
  for (const ElementType type : kTypes) {
    FinishOptions o = OptionsOf(type);
    o.in_layout = ImageLayout::kNchw;
    o.in_height = o.in_width = o.out_height = o.out_width = 32;
    const NaiveFinisher naive(o);
    const std::vector<uint8_t> image = Noise(o);
    for (int place = 0; place < 2 * 81; ++place) {
      const FinishGeometry g = {place % 9 - 4, place / 9 % 9 - 4, place >= 81};
      CheckFinisher(GetParam(), o, g, image, naive(o, image, g));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FinishPaths, testing::ValuesIn(FinishLevels()), LevelName);

}  // namespace
}  // namespace recpack
