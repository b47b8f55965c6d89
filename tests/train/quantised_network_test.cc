#include "src/train/cpu/quantised_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/cpu/fold.h"
#include "src/train/cpu/folded_network.h"
#include "src/train/models/model.h"
#include "tests/train/on_device.h"

namespace recpack::train {
namespace {

constexpr int64_t kImages = 16;

std::vector<float> Normal(uint64_t seed, int64_t count, float size = 1) {
  KeyedRandom random(seed, 1, 0);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int k = 0; k < 12; ++k) sum += static_cast<float>(random.NextBelow(1 << 16)) / (1 << 16);
    values.push_back(size * (sum - 6));
  }
  return values;
}

// A network with a batch, in f32 and in integers.
class Networks : private BatchArrays {
 public:
  Networks() : ops_(MakeCpuOps({.threads = 2})), device_(ops_) { ops_.Attach(); }

  ModelContext Context() { return {.ops = &ops_, .batch = kImages}; }

  // Sets statistics and scales like those of a trained network.
  void Build(std::unique_ptr<Model> model) {
    model_ = std::move(model);
    model_->Build(0, 7);
    const Variables& variables = model_->variables();
    for (size_t i = 0; i < variables.specs().size(); ++i) {
      const std::string& name = variables.specs()[i].name;
      const auto count = static_cast<int64_t>(variables.size(i));
      const auto noise = Normal(100 + i, count, 0.2F);
      for (int64_t k = 0; k < count; ++k) {
        float& value = variables.At(i)[k];
        if (name.ends_with("running_mean") || name.ends_with("bias")) value = noise[k];
        if (name.ends_with("running_var")) value = 0.5F + std::fabs(noise[k]);
        if (name.ends_with("bn1.weight") || name.ends_with("bn2.weight")) value = 1 + noise[k];
      }
    }
    Look([&] { model_->Forward(*this, nullptr, false, 0, &sums_); });
  }

  void Look(const std::function<void()>& forward) {
    trace_ = ops_.Record(forward);
    Calibration calibration(trace_);
    calibration.Observe(Input());
    ranges_ = calibration.Ranges(100);
    f32_ = Logits();
  }

  // Relative error of the integer logits, by the largest one.
  double Off() {
    network_ = std::make_unique<QuantisedNetwork>(trace_, ranges_);
    return OffOf(*network_);
  }
  // The same for f32 with batch norm folded.
  double OffFolded() { return OffOf(FoldedNetwork(trace_)); }

  template <typename Network>
  double OffOf(const Network& network) {
    // Overwrites old results, so that a value that is not computed is detected.
    const std::vector<float> nothing(f32_.size(), 1e6F);
    ops_.Upload(trace_.logits.data, nothing.data(), nothing.size() * sizeof(float));
    const auto input = input_;  // at another address than the trace's
    network.Run(input.data());
    const auto logits = Logits();
    float most = 0, off = 0;
    for (size_t i = 0; i < f32_.size(); ++i) {
      most = std::max(most, std::fabs(f32_[i]));
      off = std::max(off, std::fabs(logits[i] - f32_[i]));
    }
    return off / most;
  }

  const float* Input() const { return input_.data(); }
  const std::vector<int64_t>& labels() const { return labels_; }
  TraceOps& ops() { return ops_; }
  OnDevice& device() { return device_; }
  ActivationRanges& ranges() { return ranges_; }
  OperationCounts counts() const { return network_->counts(); }

 private:
  const void* Raw(const std::string& name) const override {
    return name == "image" ? static_cast<const void*>(Input()) : labels_.data();
  }
  std::vector<float> Logits() {
    return device_.Floats(trace_.logits.As<float>(), static_cast<size_t>(trace_.logits.elements()));
  }

  TraceOps ops_;
  OnDevice device_;
  std::unique_ptr<Model> model_;
  const std::vector<float> input_ = Normal(1, kImages * 3 * 32 * 32);
  const std::vector<int64_t> labels_ = std::vector<int64_t>(kImages);
  LossSums sums_;
  Trace trace_;
  ActivationRanges ranges_;
  std::vector<float> f32_;
  std::unique_ptr<QuantisedNetwork> network_;
};

TEST(QuantisedNetwork, IsNearTheResnet) {
  for (const int64_t width : {8, 16}) {
    Networks networks;
    networks.Build(MakeResnet(networks.Context(), {.width = width}));
    EXPECT_TRUE(networks.OffFolded() < 1e-5) << networks.OffFolded();
    EXPECT_TRUE(networks.Off() < 0.05) << networks.Off();
    // 20 convolutions, 3 of them shortcuts; mean and dense layer.
    EXPECT_EQ(networks.counts().int8, 20);
    EXPECT_EQ(networks.counts().f32, 2);
  }
}

TEST(QuantisedNetwork, IsNearTheAlexnet) {
  Networks networks;
  networks.Build(MakeAlexnet(networks.Context(), {.filters = 16, .dense = 64}));
  EXPECT_TRUE(networks.OffFolded() < 1e-5) << networks.OffFolded();
  EXPECT_TRUE(networks.Off() < 0.05) << networks.Off();
  // Two convolutions, poolings and dense layers, and the copy between; the last dense layer.
  EXPECT_EQ(networks.counts().int8, 7);
  EXPECT_EQ(networks.counts().f32, 1);
}

TEST(QuantisedNetwork, IsNearTheGooglenet) {
  Networks networks;
  networks.Build(
      MakeGooglenet(networks.Context(), {.width = 16, .classes = 10, .image = 32, .stem = 3}));
  EXPECT_TRUE(networks.OffFolded() < 1e-4) << networks.OffFolded();
  EXPECT_TRUE(networks.Off() < 0.1) << networks.Off();
  // 57 convolutions, 9 concatenations, 2 poolings between modules and one in each; mean and dense
  // layer.
  EXPECT_EQ(networks.counts().int8, 77);
  EXPECT_EQ(networks.counts().f32, 2);
}

// Also for activations that several layers read, including residuals.
TEST(QuantisedNetwork, AWrongScaleIsSeen) {
  Networks networks;
  networks.Build(MakeResnet(networks.Context(), {.width = 8}));
  const double right = networks.Off();
  const ActivationRanges ranges = networks.ranges();
  for (const float factor : {0.1F, 60.0F}) {
    for (auto& [where, range] : networks.ranges()) range *= factor;
    EXPECT_GT(networks.Off(), 4 * right) << factor;
    networks.ranges() = ranges;
  }
  EXPECT_EQ(networks.Off(), right) << "the same bits again";
}

// A residual is not added in place to what another layer still reads, nor to the layer's own input.
TEST(QuantisedNetwork, ResidualsThatAreReadAgainStay) {
  Networks networks;
  Ops& ops = networks.ops();
  OnDevice& device = networks.device();
  constexpr int64_t kChannels = 16;
  const Shape shape = {kImages, kChannels, 32, 32};
  const auto picture = [&] { return device.Empty(shape, ElementType::kF32, ImageLayout::kNhwc); };
  const auto convolution = [&](int64_t in, uint64_t seed) {
    auto made = ops.MakeConvolution({.batch = kImages,
                                     .in_channels = in,
                                     .height = 32,
                                     .width = 32,
                                     .out_channels = kChannels,
                                     .kernel_height = 3,
                                     .kernel_width = 3,
                                     .pad_height = 1,
                                     .pad_width = 1});
    made->SetWeights(device.Raw(Normal(seed, kChannels * in * 9, 0.2F)), nullptr);
    return made;
  };
  const auto norm = [&](bool residual) {
    return ops.MakeBatchNorm({.batch = kImages,
                              .channels = kChannels,
                              .height = 32,
                              .width = 32,
                              .residual = residual,
                              .relu = true});
  };
  std::vector<float> ones(kChannels, 1.0F), zeros(kChannels);
  const BatchNormVariables variables{device.Raw(ones), device.Raw(zeros), device.Raw(zeros),
                                     device.Raw(ones)};
  const auto first = convolution(3, 1), between = convolution(16, 4), second = convolution(16, 2),
             third = convolution(16, 3);
  const auto plain = norm(false), adding = norm(true);
  const auto pool = ops.MakePooling({.kind = PoolingKind::kAverage,
                                     .batch = kImages,
                                     .channels = kChannels,
                                     .height = 32,
                                     .width = 32,
                                     .window_height = 32,
                                     .window_width = 32});
  std::vector<Tensor> made;
  for (int i = 0; i < 8; ++i) made.push_back(picture());
  const Tensor logits = device.Empty({kImages, kChannels}, ElementType::kF32, ImageLayout::kNhwc);
  LossSums sums;
  for (const bool itself : {false, true}) {
    networks.Look([&] {
      first->Forward(networks.Input(), made[0].data);
      plain->Infer(variables, made[0].data, nullptr, made[1].data);
      between->Forward(made[1].data, made[2].data);
      plain->Infer(variables, made[2].data, nullptr, made[3].data);
      const void* const x = made[itself ? 1 : 3].data;
      second->Forward(x, made[4].data);
      adding->Infer(variables, made[4].data, made[1].data, made[5].data);
      const void* const again = made[itself ? 5 : 1].data;
      third->Forward(again, made[6].data);
      adding->Infer(variables, made[6].data, made[5].data, made[7].data);
      pool->Forward(made[7].data, logits.data);
      ops.SoftmaxCrossEntropy(logits, networks.labels().data(), nullptr, 0, nullptr, &sums);
    });
    EXPECT_TRUE(networks.OffFolded() < 1e-5) << itself << ": " << networks.OffFolded();
    const double off = networks.Off();
    EXPECT_TRUE(off < 0.03) << itself << ": " << off;
  }
}

TEST(QuantisedNetwork, RefusesWhatItDoesNotKnow) {
  TraceOps ops(MakeCpuOps({.threads = 1}));
  ops.Attach();
  OnDevice device(ops);
  const Tensor x{device.Raw(std::vector<float>(8)), ElementType::kF32, {2, 4}};
  const std::vector<int64_t> labels(2);
  LossSums sums;
  const auto loss = [&] { ops.SoftmaxCrossEntropy(x, labels.data(), nullptr, 0, nullptr, &sums); };
  EXPECT_THROW(ops.Record([&] { ops.Add(x, x); }), Error);
  EXPECT_THROW(ops.Record([] {}), Error);
  const Trace tanh = ops.Record([&] {
    ops.Activate(Activation::kTanh, x, x);
    loss();
  });
  EXPECT_THROW(QuantisedNetwork(tanh, {{x.data, 1.0F}}), Error);
  EXPECT_THROW(FoldedNetwork{tanh}, Error);
}

// Over passes with different magnitudes.
TEST(Calibration, RangesEndAtTheLargestOrAtAPercentile) {
  std::vector<float> input(1000), result(1000);
  const auto floats = [](std::vector<float>& of) {
    return Tensor{of.data(), ElementType::kF32, {1000}};
  };
  Trace trace;
  trace.input = floats(input);
  trace.steps.push_back({TracedActivation{}, floats(input), floats(result), {}});
  Calibration calibration(trace);
  for (const float size : {1.0F, 4.0F}) {
    for (size_t i = 0; i < 1000; ++i) {
      input[i] = size * (i % 2 ? -1.0F : 1.0F) * static_cast<float>(i);
      result[i] = i < 900 ? 0 : size;
    }
    calibration.Observe(input.data());
  }
  const auto input_range = [&](double percentile) {
    return calibration.Ranges(percentile).at(input.data());
  };
  EXPECT_EQ(input_range(100), 3996);
  EXPECT_NEAR(input_range(99.99), 3996, 0.01 * 3996);
  EXPECT_NEAR(input_range(90), 3200, 0.01 * 3200);  // 800 of 1000 of the second, all of the first
  EXPECT_NEAR(input_range(50), 800, 0.01 * 800);    // 800 and 200
  EXPECT_EQ(calibration.Ranges(100).at(result.data()), 4);
  EXPECT_EQ(calibration.Ranges(99).at(result.data()), 4);
  EXPECT_NEAR(calibration.Ranges(94).at(result.data()), 1, 0.01);
  EXPECT_LT(calibration.Ranges(80).at(result.data()), 1e-30F);
}

TEST(Fold, PutsTheNormIntoTheConvolution) {
  const float weights[] = {1, 2, 3, -4}, scale[] = {2, 3}, shift[] = {0.5F, -1};
  float mean[] = {1, -2}, variance[] = {4 - 1e-5F, 9 - 1e-5F};
  const TracedConvolution convolution{{.in_channels = 2, .out_channels = 2}, weights, nullptr};
  const TracedNorm norm{{}, {scale, shift, mean, variance}, nullptr};
  const FoldedWeights folded = Fold(convolution, &norm);
  const float expected[] = {1, 2, 3, -4};  // by 2 / sqrt(4) and 3 / sqrt(9)
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(folded.weights[i], expected[i], 1e-5);
  EXPECT_NEAR(folded.bias[0], 0.5 - 1, 1e-5);
  EXPECT_NEAR(folded.bias[1], -1 + 2, 1e-5);
}

TEST(Fold, EachChannelHasAScaleOfItsOwn) {
  const IntegerWeights integers = ToIntegers({{127, -63.6F, 0.01F, 0, 0, 0}, {0, 0, 0}});
  EXPECT_EQ(integers.scales, (std::vector<float>{1, 0.01F / 127, 1}));
  EXPECT_EQ(integers.integers, (std::vector<int8_t>{127, -64, 127, 0, 0, 0}));
}

TEST(Fold, RefusesWhatIsNotFinite) {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float wrong : {infinite, -infinite, infinite - infinite}) {
    EXPECT_THROW(ToIntegers({{1, wrong}, {0}}), Error) << wrong;
    EXPECT_THROW(ToIntegers({{1, 2}, {wrong}}), Error) << wrong;
  }
}

}  // namespace
}  // namespace recpack::train
