// Contract tests for the ResNet on every backend; each backend's tests instantiate these.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "recpack/base/error.h"
#include "tests/train/small_network.h"

namespace recpack::train {

constexpr int64_t kBatch = 4;

using OpsFactory = std::function<std::unique_ptr<Ops>()>;  // returns null without such a device

inline void PrintTo(const OpsFactory&, std::ostream* out) { *out << "a device for each test"; }

struct Form {
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  bool fused = true;
};

// With images and labels.
class Small : public SmallNetwork {
 public:
  explicit Small(const OpsFactory& make, const Form& form = {},
                 const ResnetOptions& options = {.width = 8})
      : SmallNetwork(make()) {
    const Shape shape = {kBatch, 3, options.image, options.image};
    const auto pixels = RandomValues(static_cast<size_t>(Elements(shape)), 1);
    Give("image", device().Of(pixels, shape, form.type, form.layout).data);
    Give("label", device().Raw(std::vector<int64_t>{3, 0, 9, 3}));
    Build(MakeResnet({.ops = &ops(),
                      .batch = kBatch,
                      .type = form.type,
                      .layout = form.layout,
                      .fused_norm = form.fused},
                     options));
  }
};

class ResnetContract : public testing::TestWithParam<OpsFactory> {
 protected:
  void SetUp() override {
    if (!make()) GTEST_SKIP() << "no such device here";
  }
  static std::unique_ptr<Ops> make() { return GetParam()(); }
};

TEST_P(ResnetContract, EveryVariablesGradientIsThatOfTheLoss) {
  Small network(make);
  ExpectGradientsOfTheLoss(network, 2e-3F, 0.1);
}

TEST_P(ResnetContract, GradientsOfALargeStemAreThoseOfTheLoss) {
  for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
    Small network(make, {.layout = layout}, {.depth = 18, .width = 4, .image = 48, .stem = 7});
    ExpectGradientsOfTheLoss(network, 2e-3F, 0.1);
  }
}

TEST_P(ResnetContract, GradientsOfBottlenecksAreThoseOfTheLoss) {
  for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
    Small network(make, {.layout = layout}, {.depth = 50, .width = 4, .image = 48, .stem = 7});
    // Before these the loss bends within any step that floats can tell: 40 layers of so few
    // samples.
    ExpectGradientsOfTheLoss(network, 2e-3F, 0.1, "layer4.2.conv1.weight");
    ExpectEachVariableOnce(network);
  }
}

TEST_P(ResnetContract, TellsOfEachVariableOnceAndTheLastLayerFirst) {
  Small network(make);
  const auto order = ExpectEachVariableOnce(network);
  EXPECT_EQ(order.front(), "fc.bias");
  EXPECT_EQ(order.back(), "conv1.weight");
}

TEST_P(ResnetContract, FormsOfTheSameNetworkAgree) {
  Small plain(make);
  const double loss = plain.Loss();
  plain.Backward();
  for (const Form& form :
       {Form{.fused = false}, Form{.layout = ImageLayout::kNchw},
        Form{.layout = ImageLayout::kNchw, .fused = false}, Form{.type = ElementType::kBf16}}) {
    if (!plain.ops().Computes(form.type)) continue;
    Small other(make, form);
    const bool exact = form.type == ElementType::kF32;
    EXPECT_NEAR(other.Loss(), loss, exact ? 1e-3 : 0.3);
    other.Backward();
    for (size_t i = 0; i < plain.variables().specs().size(); ++i) {
      if (!plain.variables().specs()[i].trained || !exact) continue;
      const auto expected = plain.Gradient(i), seen = other.Gradient(i);
      const double scale = std::sqrt(Dot(expected, expected)) + 1e-6;
      double difference = 0;
      for (size_t k = 0; k < seen.size(); ++k) {
        difference += std::pow(static_cast<double>(seen[k]) - expected[k], 2);
      }
      EXPECT_TRUE(std::sqrt(difference) <= 1e-2 * scale) << plain.variables().specs()[i].name;
    }
  }
}

TEST_P(ResnetContract, TrainsItsBatchByHeart) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    if (!make()->Computes(type)) continue;
    Small network(make, {.type = type});
    const double first = network.Loss();
    for (int step = 0; step < 30; ++step) {
      network.Loss();
      network.Backward();
      network.ops().Sgd({.rate = 0.02F, .momentum = 0.9F}, network.variables().trained(),
                        network.variables().gradients(), network.variables().Slot(0, 0),
                        network.variables().trained_size());
    }
    EXPECT_LT(network.Loss(), 0.1 * first);
  }
}

TEST_P(ResnetContract, StepsOfTheSameSeedAreTheSameBits) {
  Small one(make), two(make);
  for (Small* network : {&one, &two}) {
    network->Loss();
    network->Backward();
  }
  for (size_t i = 0; i < one.variables().specs().size(); ++i) {
    EXPECT_EQ(one.Value(i), two.Value(i));
    if (one.variables().specs()[i].trained) {
      EXPECT_EQ(one.Gradient(i), two.Gradient(i));
    }
  }
}

TEST_P(ResnetContract, NamesItsVariablesAsPyTorchDoes) {
  Small network(make);
  std::map<std::string, Shape> shapes;
  for (const auto& spec : network.variables().specs()) shapes[spec.name] = spec.shape;
  EXPECT_EQ(shapes.size(), network.variables().specs().size()) << "no name is there twice";
  EXPECT_EQ(shapes["conv1.weight"], (Shape{8, 3, 3, 3}));
  EXPECT_EQ(shapes["layer2.0.downsample.0.weight"], (Shape{16, 8, 1, 1}));
  EXPECT_EQ(shapes["layer2.0.downsample.1.running_var"], (Shape{16}));
  EXPECT_EQ(shapes["layer4.1.conv2.weight"], (Shape{64, 64, 3, 3}));
  EXPECT_EQ(shapes["fc.weight"], (Shape{10, 64}));
  EXPECT_FALSE(shapes.contains("layer1.0.downsample.0.weight"));
}

TEST_P(ResnetContract, HasTheSizesOfThePublishedNetworks) {
  for (const auto& [depth, variables] :  // parameters of torchvision's networks
       {std::tuple(18, 11'689'512), std::tuple(34, 21'797'672), std::tuple(50, 25'557'032),
        std::tuple(101, 44'549'160)}) {
    const auto ops = make();
    const auto model =
        MakeResnet({.ops = ops.get(), .batch = 1},
                   {.depth = depth, .width = 64, .classes = 1000, .image = 224, .stem = 7});
    int64_t trained = 0;
    for (const auto& spec : model->variables().specs()) {
      if (spec.trained) trained += Elements(spec.shape);
    }
    EXPECT_EQ(trained, variables) << depth;
  }
  const auto ops = make();
  EXPECT_THROW(MakeResnet({.ops = ops.get(), .batch = 1}, {.depth = 20}), Error);
  EXPECT_THROW(MakeResnet({.ops = ops.get(), .batch = 1}, {.stem = 5}), Error);
}

}  // namespace recpack::train
