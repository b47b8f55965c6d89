#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/train/small_network.h"

namespace recpack::train {
namespace {

constexpr DeepconnOptions kOptions{
    .vocabulary = 20, .max_tokens = 12, .dims = 8, .filters = 16, .latent = 8, .factors = 4};

class SmallDeepConn : public SmallNetwork {
 public:
  explicit SmallDeepConn(ElementType type = ElementType::kF32,
                         ImageLayout layout = ImageLayout::kNhwc, int32_t last_token = 7)
      : SmallNetwork(MakeCpuOps({.threads = 2})) {
    for (const char* name : {"user_tokens", "item_tokens"}) {
      KeyedRandom random(1, 2, name[0]);
      std::vector<int32_t> tokens(4 * 12);
      for (int32_t& token : tokens) token = static_cast<int32_t>(random.NextBelow(20));
      for (size_t i = 9; i < 12; ++i) tokens[i] = 0;  // a short text
      tokens.back() = last_token;
      Give(name, device().Raw(tokens));
    }
    Give("rating", device().Raw(std::vector<float>{1, 5, 3, 4}));
    Build(MakeDeepconn({.ops = &ops(), .batch = 4, .type = type, .layout = layout}, kOptions));
    // Factors and weights large enough to affect the loss.
    for (size_t i = 0; i < variables().specs().size(); ++i) {
      if (variables().specs()[i].name.starts_with("fm.") ||
          variables().specs()[i].name.ends_with("embedding.weight")) {
        Set(i, RandomValues(variables().size(i), i));
      }
    }
  }
};

TEST(Deepconn, EveryVariablesGradientIsThatOfTheLoss) {
  SmallDeepConn network;
  ExpectGradientsOfTheLoss(network, 2e-3F, 0.1);
}

TEST(Deepconn, TellsOfEachVariableOnceAndTheLastLayerFirst) {
  SmallDeepConn network;
  const auto order = ExpectEachVariableOnce(network);
  EXPECT_EQ(order.front(), "fm.factors");
  EXPECT_EQ(order.back(), "user.embedding.weight");
}

TEST(Deepconn, LayoutsAgreeInLossAndGradients) {
  SmallDeepConn nhwc, nchw(ElementType::kF32, ImageLayout::kNchw);
  EXPECT_NEAR(nhwc.Loss(), nchw.Loss(), 1e-3);
  nhwc.Backward();
  nchw.Backward();
  for (size_t i = 0; i < nhwc.variables().specs().size(); ++i) {
    const auto expected = nhwc.Gradient(i), seen = nchw.Gradient(i);
    const double scale = 1 + std::sqrt(Dot(expected, expected));
    for (size_t k = 0; k < seen.size(); ++k) ASSERT_NEAR(seen[k], expected[k], 1e-3 * scale);
  }
}

TEST(Deepconn, TrainsItsBatchByHeart) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    if (!MakeCpuOps()->Computes(type)) continue;
    SmallDeepConn network(type);
    const double first = network.Loss();
    for (int step = 0; step < 100; ++step) network.Step(0.0005F);
    EXPECT_LT(network.Loss(), 0.1 * first);
  }
}

TEST(Deepconn, CountsTokensThatAreOutOfRange) {
  EXPECT_EQ(SmallDeepConn().Sums().bad_labels, 0);
  EXPECT_EQ(SmallDeepConn(ElementType::kF32, ImageLayout::kNhwc, 20).Sums().bad_labels, 2);
}

TEST(Deepconn, RefusesOptionsThatMakeNoNetwork) {
  EXPECT_THROW(MakeDeepconn({.batch = 4}, {}), Error) << "without a vocabulary";
  EXPECT_THROW(MakeDeepconn({.batch = 4}, {.vocabulary = 9, .max_tokens = 2}), Error);
}

}  // namespace
}  // namespace recpack::train
