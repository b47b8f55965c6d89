#include <algorithm>
#include <cmath>
#include <utility>

#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "tests/train/small_network.h"

namespace recpack::train {
namespace {

constexpr DeepconnOptions kOptions{
    .vocabulary = 20, .max_tokens = 12, .dims = 8, .filters = 16, .latent = 8, .factors = 4};

DeepconnOptions With(WordTables tables) {
  DeepconnOptions options = kOptions;
  options.tables = tables;
  return options;
}

class SmallDeepConn : public SmallNetwork {
 public:
  explicit SmallDeepConn(const DeepconnOptions& options)
      : SmallDeepConn(ElementType::kF32, ImageLayout::kNhwc, 7, options) {}
  explicit SmallDeepConn(ElementType type = ElementType::kF32,
                         ImageLayout layout = ImageLayout::kNhwc, int32_t last_token = 7,
                         const DeepconnOptions& options = kOptions)
      : SmallNetwork(MakeCpuOps({.threads = 2})) {
    for (const char* name : {"user_tokens", "item_tokens"}) {
      Give(name, device().Raw(Tokens(name, last_token)));
    }
    Give("rating", device().Raw(std::vector<float>{1, 5, 3, 4}));
    Build(MakeDeepconn({.ops = &ops(), .batch = 4, .type = type, .layout = layout}, options));
    // Factors and weights large enough to affect the loss.
    for (size_t i = 0; i < variables().specs().size(); ++i) {
      if (variables().specs()[i].name.starts_with("fm.") ||
          variables().specs()[i].name.ends_with("embedding.weight")) {
        Set(i, RandomValues(variables().size(i), i));
      }
    }
  }

  static std::vector<int32_t> Tokens(const std::string& name, int32_t last) {
    KeyedRandom random(1, 2, name[0]);
    std::vector<int32_t> tokens(4 * 12);
    for (int32_t& token : tokens) token = static_cast<int32_t>(random.NextBelow(20));
    for (size_t i = 9; i < 12; ++i) tokens[i] = 0;  // a short text
    tokens.back() = last;
    return tokens;
  }

  // The first sample's rating, of the last Loss().
  float Prediction() {
    const Tensor rating = model().Activity().back().value;
    return device().Back(rating).front();
  }

  size_t Find(const std::string& name) {
    const auto& specs = variables().specs();
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [&](const VariableSpec& spec) { return spec.name == name; });
    return static_cast<size_t>(found - specs.begin());
  }
};

TEST(Deepconn, EveryVariablesGradientIsThatOfTheLoss) {
  for (const WordTables tables : {WordTables::kShared, WordTables::kSeparate}) {
    SmallDeepConn network(With(tables));
    ExpectGradientsOfTheLoss(network, 2e-3F, 0.1);
  }
}

// A window of 2 with a stride of 1, as in the study's code, and windows with gaps that leave
// positions over.
TEST(Deepconn, WithWindowsEveryVariablesGradientIsThatOfTheLoss) {
  for (const auto& [window, stride] : {std::pair(2, 1), {2, 3}, {10, 1}}) {
    for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
      SCOPED_TRACE(window);
      DeepconnOptions options = kOptions;
      options.pool_window = window;
      options.pool_stride = stride;
      SmallDeepConn network(ElementType::kF32, layout, 7, options);
      EXPECT_EQ(network.variables().specs()[network.Find("user.fc.weight")].shape,
                (Shape{8, 16 * ((10 - window) / stride + 1)}));
      ExpectGradientsOfTheLoss(network, 1e-3F, 0.1);
    }
  }
}

TEST(Deepconn, AWindowOverAllPositionsIsTheMaximumOverAll) {
  DeepconnOptions options = kOptions;
  options.pool_window = 10;
  SmallDeepConn all(kOptions), window(options);
  EXPECT_EQ(window.Loss(), all.Loss());
  all.Backward();
  window.Backward();
  for (size_t i = 0; i < all.variables().specs().size(); ++i) {
    EXPECT_EQ(window.Gradient(i), all.Gradient(i));
  }
}

// Written out: position by position, from the token vectors to the rating.
TEST(Deepconn, PoolsAndFlattensChannelFirst) {
  DeepconnOptions options = kOptions;
  options.pool_window = 2;
  SmallDeepConn network(options);
  const auto value = [&](const char* name) { return network.Value(network.Find(name)); };
  std::vector<float> x;
  for (const std::string tower : {"user", "item"}) {
    const auto table = value("embedding.weight"), weight = value((tower + ".conv.weight").c_str()),
               bias = value((tower + ".conv.bias").c_str()),
               dense = value((tower + ".fc.weight").c_str()),
               dense_bias = value((tower + ".fc.bias").c_str());
    const std::vector<int32_t> tokens = SmallDeepConn::Tokens(tower + "_tokens", 7);
    const auto convolved = [&](size_t filter, size_t at) {
      double sum = bias[filter];
      for (size_t k = 0; k < 3; ++k) {
        const auto token = static_cast<size_t>(tokens[at + k]);
        for (size_t d = 0; token != 0 && d < 8; ++d) {
          sum += static_cast<double>(table[token * 8 + d]) * weight[(filter * 8 + d) * 3 + k];
        }
      }
      return std::tanh(sum);
    };
    for (size_t out = 0; out < 8; ++out) {
      double sum = dense_bias[out];
      for (size_t filter = 0; filter < 16; ++filter) {
        for (size_t at = 0; at < 9; ++at) {
          sum += dense[(out * 16 + filter) * 9 + at] *
                 std::max(convolved(filter, at), convolved(filter, at + 1));
        }
      }
      x.push_back(static_cast<float>(std::max(0.0, sum)));
    }
  }
  const auto weights = value("fm.weight"), factors = value("fm.factors");
  double rating = value("fm.bias")[0];
  for (size_t i = 0; i < x.size(); ++i) {
    rating += weights[i] * x[i];
    for (size_t j = i + 1; j < x.size(); ++j) {
      for (size_t f = 0; f < 4; ++f)
        rating += factors[i * 4 + f] * factors[j * 4 + f] * x[i] * x[j];
    }
  }
  network.Loss();
  const float seen = network.Prediction();
  EXPECT_NEAR(seen, rating, 1e-3 * (1 + std::abs(rating)));
}

TEST(Deepconn, TellsOfEachVariableOnceAndTheLastLayerFirst) {
  for (const auto& [tables, last] : {std::pair(WordTables::kShared, "embedding.weight"),
                                     {WordTables::kSeparate, "user.embedding.weight"}}) {
    SmallDeepConn network(With(tables));
    const auto order = ExpectEachVariableOnce(network);
    EXPECT_EQ(order.front(), "fm.factors");
    EXPECT_EQ(order.back(), last);
  }
}

TEST(Deepconn, TheSharedTablesGradientIsTheSumOfTheTowers) {
  SmallDeepConn shared(With(WordTables::kShared)), separate(With(WordTables::kSeparate));
  for (size_t i = 0; i < separate.variables().specs().size(); ++i) {
    std::string name = separate.variables().specs()[i].name;
    if (name.ends_with("embedding.weight")) name = "embedding.weight";
    separate.Set(i, shared.Value(shared.Find(name)));
  }
  EXPECT_EQ(separate.Loss(), shared.Loss());
  separate.Backward();
  shared.Backward();
  const auto of_user = separate.Gradient(separate.Find("user.embedding.weight"));
  const auto of_item = separate.Gradient(separate.Find("item.embedding.weight"));
  const auto sum = shared.Gradient(shared.Find("embedding.weight"));
  for (size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(sum[i], of_user[i] + of_item[i], 1e-4 * (1 + std::abs(sum[i])));
  }
  EXPECT_GT(Dot(of_user, of_user), 0);
  EXPECT_GT(Dot(of_item, of_item), 0);
}

TEST(Deepconn, LayoutsAgreeInLossAndGradients) {
  for (const int window : {0, 2}) {
    DeepconnOptions options = kOptions;
    options.pool_window = window;
    SmallDeepConn nhwc(options), nchw(ElementType::kF32, ImageLayout::kNchw, 7, options);
    EXPECT_NEAR(nhwc.Loss(), nchw.Loss(), 1e-3);
    nhwc.Backward();
    nchw.Backward();
    for (size_t i = 0; i < nhwc.variables().specs().size(); ++i) {
      const auto expected = nhwc.Gradient(i), seen = nchw.Gradient(i);
      const double scale = 1 + std::sqrt(Dot(expected, expected));
      for (size_t k = 0; k < seen.size(); ++k) ASSERT_NEAR(seen[k], expected[k], 1e-3 * scale);
    }
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
  for (const auto& [window, stride] : {std::pair(-1, 1), {2, 0}, {11, 1}}) {
    DeepconnOptions options = kOptions;
    options.pool_window = window;
    options.pool_stride = stride;
    EXPECT_THROW(MakeDeepconn({.batch = 4}, options), Error) << window << "/" << stride;
  }
}

}  // namespace
}  // namespace recpack::train
