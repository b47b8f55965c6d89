#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/train/small_network.h"

namespace recpack::train {
namespace {

class SmallAlexnet : public SmallNetwork {
 public:
  explicit SmallAlexnet(ElementType type = ElementType::kF32,
                        ImageLayout layout = ImageLayout::kNhwc)
      : SmallNetwork(MakeCpuOps({.threads = 2})) {
    const Shape shape = {4, 3, 16, 16};
    const auto pixels = RandomValues(static_cast<size_t>(Elements(shape)), 1);
    Give("image", device().Of(pixels, shape, type, layout).data);
    Give("label", device().Raw(std::vector<int64_t>{3, 0, 9, 3}));
    Build(MakeAlexnet({.ops = &ops(), .batch = 4, .type = type, .layout = layout},
                      {.filters = 8, .dense = 32, .image = 16}));
  }
};

TEST(Alexnet, EveryVariablesGradientIsThatOfTheLoss) {
  SmallAlexnet network;
  ExpectGradientsOfTheLoss(network, 2e-3F, 0.1);
}

TEST(Alexnet, TellsOfEachVariableOnceAndTheLastLayerFirst) {
  SmallAlexnet network;
  const auto order = ExpectEachVariableOnce(network);
  EXPECT_EQ(order.front(), "classifier.4.bias");
  EXPECT_EQ(order.back(), "features.0.weight");
}

TEST(Alexnet, LayoutsAgreeInLossAndGradients) {
  SmallAlexnet nhwc, nchw(ElementType::kF32, ImageLayout::kNchw);
  EXPECT_NEAR(nhwc.Loss(), nchw.Loss(), 1e-4);
  nhwc.Backward();
  nchw.Backward();
  for (size_t i = 0; i < nhwc.variables().specs().size(); ++i) {
    const auto expected = nhwc.Gradient(i), seen = nchw.Gradient(i);
    for (size_t k = 0; k < seen.size(); ++k) ASSERT_NEAR(seen[k], expected[k], 1e-3);
  }
}

TEST(Alexnet, TrainsItsBatchByHeart) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    if (!MakeCpuOps()->Computes(type)) continue;
    SmallAlexnet network(type);
    const double first = network.Loss();
    for (int step = 0; step < 60; ++step) network.Step(0.01F);
    EXPECT_LT(network.Loss(), 0.1 * first);
  }
}

TEST(Alexnet, RefusesOptionsThatMakeNoNetwork) {
  EXPECT_THROW(MakeAlexnet({.batch = 4}, {.image = 6}), Error);
  EXPECT_THROW(MakeAlexnet({.batch = 4}, {.dense = 0}), Error);
}

}  // namespace
}  // namespace recpack::train
