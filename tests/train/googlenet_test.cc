#include <map>

#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/train/small_network.h"

namespace recpack::train {
namespace {

class SmallGooglenet : public SmallNetwork {
 public:
  explicit SmallGooglenet(ElementType type = ElementType::kF32,
                          ImageLayout layout = ImageLayout::kNhwc, int64_t image = 16, int stem = 3)
      : SmallNetwork(MakeCpuOps({.threads = 2})) {
    const Shape shape = {4, 3, image, image};
    const auto pixels = RandomValues(static_cast<size_t>(Elements(shape)), 1);
    Give("image", device().Of(pixels, shape, type, layout).data);
    Give("label", device().Raw(std::vector<int64_t>{3, 0, 9, 3}));
    Build(MakeGooglenet({.ops = &ops(), .batch = 4, .type = type, .layout = layout},
                        {.width = 8, .classes = 10, .image = image, .stem = stem}));
  }
};

TEST(Googlenet, EveryVariablesGradientIsThatOfTheLoss) {
  SmallGooglenet network;
  // Before these the loss bends within any step that floats can tell: 15 layers of so few samples.
  ExpectGradientsOfTheLoss(network, 1e-3F, 0.1, "inception5a.branch1.conv.weight");
  ExpectEachVariableOnce(network);
}

TEST(Googlenet, GradientsOfThePublishedStemAreThoseOfTheLoss) {
  SmallGooglenet network(ElementType::kF32, ImageLayout::kNchw, 64, 7);
  ExpectGradientsOfTheLoss(network, 1e-3F, 0.1, "inception5b.branch1.conv.weight");
  ExpectEachVariableOnce(network);
}

TEST(Googlenet, TellsOfEachVariableOnceAndTheLastLayerFirst) {
  SmallGooglenet network;
  const auto order = ExpectEachVariableOnce(network);
  EXPECT_EQ(order.front(), "fc.bias");
  EXPECT_EQ(order.back(), "conv1.conv.weight");
}

TEST(Googlenet, FormsAgreeInLoss) {
  SmallGooglenet plain, nchw(ElementType::kF32, ImageLayout::kNchw);
  EXPECT_NEAR(plain.Loss(), nchw.Loss(), 1e-3);
  if (!plain.ops().Computes(ElementType::kBf16)) return;
  SmallGooglenet bf16(ElementType::kBf16);
  EXPECT_NEAR(plain.Loss(), bf16.Loss(), 0.3);
  ExpectEachVariableOnce(bf16);
}

// In f32 alone: bf16 is slow for so few channels.
TEST(Googlenet, TrainsItsBatchByHeart) {
  SmallGooglenet network;
  const double first = network.Loss();
  for (int step = 0; step < 30; ++step) network.Step(0.02F);
  EXPECT_LT(network.Loss(), 0.1 * first);
}

TEST(Googlenet, HasTheSizeOfThePublishedNetwork) {
  const auto model = MakeGooglenet({.batch = 1}, {});
  int64_t trained = 0;
  std::map<std::string, Shape> shapes;
  for (const auto& spec : model->variables().specs()) {
    if (spec.trained) trained += Elements(spec.shape);
    shapes[spec.name] = spec.shape;
  }
  EXPECT_EQ(trained, 6'624'904);  // torchvision's, without the auxiliary classifiers
  EXPECT_EQ(shapes["conv1.conv.weight"], (Shape{64, 3, 7, 7}));
  EXPECT_EQ(shapes["inception3a.branch3.1.conv.weight"], (Shape{32, 16, 3, 3}));
  EXPECT_EQ(shapes["inception4e.branch4.1.bn.running_var"], (Shape{128}));
  EXPECT_EQ(shapes["fc.weight"], (Shape{1000, 1024}));
}

TEST(Googlenet, RefusesOptionsThatMakeNoNetwork) {
  EXPECT_THROW(MakeGooglenet({.batch = 4}, {.width = 12}), Error);
  EXPECT_THROW(MakeGooglenet({.batch = 4}, {.stem = 5}), Error);
  EXPECT_THROW(MakeGooglenet({.batch = 4}, {.image = 15}), Error);
}

}  // namespace
}  // namespace recpack::train
