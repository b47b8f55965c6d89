#include <tuple>

#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/train/small_network.h"

namespace recpack::train {
namespace {

class SmallVgg : public SmallNetwork {
 public:
  explicit SmallVgg(ElementType type = ElementType::kF32, ImageLayout layout = ImageLayout::kNhwc)
      : SmallNetwork(MakeCpuOps({.threads = 2})) {
    const Shape shape = {4, 3, 64, 64};
    const auto pixels = RandomValues(static_cast<size_t>(Elements(shape)), 1);
    Give("image", device().Of(pixels, shape, type, layout).data);
    Give("label", device().Raw(std::vector<int64_t>{3, 0, 9, 3}));
    Build(MakeVgg({.ops = &ops(), .batch = 4, .type = type, .layout = layout},
                  {.depth = 11, .width = 4, .dense = 32, .classes = 10, .image = 64}));
  }

  // The biases that a normalisation takes out again.
  static bool HasNoGradient(const std::string& name) {
    for (const char* number : {"0", "4", "8", "11", "15", "18", "22", "25"}) {
      if (name == std::string("features.") + number + ".bias") return true;
    }
    return false;
  }
};

TEST(Vgg, EveryVariablesGradientIsThatOfTheLoss) {
  for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
    SmallVgg network(ElementType::kF32, layout);
    ExpectGradientsOfTheLoss(network, 2e-3F, 0.1, "", SmallVgg::HasNoGradient);
    size_t without = 0;
    for (size_t i = 0; i < network.variables().specs().size(); ++i) {
      if (!SmallVgg::HasNoGradient(network.variables().specs()[i].name)) continue;
      ++without;
      for (const float value : network.Gradient(i)) EXPECT_NEAR(value, 0, 1e-4);
    }
    EXPECT_EQ(without, 8u);
  }
}

TEST(Vgg, TellsOfEachVariableOnceAndTheLastLayerFirst) {
  SmallVgg network;
  const auto order = ExpectEachVariableOnce(network);
  EXPECT_EQ(order.front(), "classifier.6.bias");
  EXPECT_EQ(order.back(), "features.0.weight");
}

TEST(Vgg, LayoutsAgreeInLoss) {
  SmallVgg nhwc, nchw(ElementType::kF32, ImageLayout::kNchw);
  EXPECT_NEAR(nhwc.Loss(), nchw.Loss(), 1e-3);
}

TEST(Vgg, TrainsItsBatchByHeart) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    if (!MakeCpuOps()->Computes(type)) continue;
    SmallVgg network(type);
    const double first = network.Loss();
    for (int step = 0; step < 60; ++step) network.Step(0.01F);
    EXPECT_LT(network.Loss(), 0.1 * first);
  }
}

TEST(Vgg, HasTheSizesOfThePublishedNetworks) {
  for (const auto& [depth, variables] :  // parameters of torchvision's networks, vgg11_bn and so on
       {std::tuple(11, 132'868'840), std::tuple(13, 133'053'736), std::tuple(16, 138'365'992),
        std::tuple(19, 143'678'248)}) {
    const auto model = MakeVgg({.batch = 1}, {.depth = depth});
    int64_t trained = 0;
    for (const auto& spec : model->variables().specs()) {
      if (spec.trained) trained += Elements(spec.shape);
    }
    EXPECT_EQ(trained, variables) << depth;
  }
}

TEST(Vgg, RefusesOptionsThatMakeNoNetwork) {
  EXPECT_THROW(MakeVgg({.batch = 4}, {.depth = 12}), Error);
  EXPECT_THROW(MakeVgg({.batch = 4}, {.image = 31}), Error);
  EXPECT_THROW(MakeVgg({.batch = 4}, {.dense = 0}), Error);
}

}  // namespace
}  // namespace recpack::train
