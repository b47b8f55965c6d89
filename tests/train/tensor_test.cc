#include "src/train/ops/tensor.h"

#include <gtest/gtest.h>

namespace recpack::train {
namespace {

TEST(Tensor, CountsElementsAndBytes) {
  const Tensor tensor{.type = ElementType::kBf16, .shape = {128, 16, 32, 32}};
  EXPECT_EQ(tensor.elements(), 128 * 16 * 32 * 32);
  EXPECT_EQ(tensor.bytes(), 2u * 128 * 16 * 32 * 32);
  EXPECT_EQ(ShapeText(tensor.shape), "128x16x32x32");
  EXPECT_EQ(Elements({}), 1);
  EXPECT_EQ(Elements({5, 0, 3}), 0);
  EXPECT_EQ(Elements({4611686014132420609, 3, 3}), INT64_MAX);
}

}  // namespace
}  // namespace recpack::train
