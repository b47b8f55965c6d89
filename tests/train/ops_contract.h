// Contract tests for the operations of every backend; each backend's tests instantiate these.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "src/train/ops/ops.h"
#include "tests/train/directional.h"
#include "tests/train/on_device.h"

namespace recpack::train {

struct OpsCase {
  std::string name;
  std::function<std::unique_ptr<Ops>()> make;  // returns null without such a device
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  bool coarse = false;  // inputs of f32 products are rounded
};

inline std::ostream& operator<<(std::ostream& out, const OpsCase& one) { return out << one.name; }

class OpsContract : public testing::TestWithParam<OpsCase> {
 protected:
  void SetUp() override {
    ops_ = GetParam().make();
    if (!ops_) GTEST_SKIP() << "no such device here";
    if (!ops_->Computes(type())) GTEST_SKIP() << "it computes no bf16";
    ops_->Attach();
    device_.emplace(*ops_);
  }

  ElementType type() const { return GetParam().type; }
  ImageLayout layout() const { return GetParam().layout; }
  bool exact() const { return type() == ElementType::kF32 && !GetParam().coarse; }
  // Tolerance for sums of products.
  double tolerance() const { return exact() ? 2e-3 : 4e-2; }

  Tensor Put(const std::vector<float>& values, const Shape& shape) {
    return device_->Of(values, shape, type(), layout());
  }
  Tensor Empty(const Shape& shape) { return device_->Empty(shape, type(), layout()); }

  // Rounded as the device stores it.
  std::vector<float> Values(const Shape& shape, uint64_t seed, float size = 1) {
    return device_->Back(
        Put(RandomValues(static_cast<size_t>(Elements(shape)), seed, size), shape));
  }

  std::unique_ptr<Ops> ops_;
  std::optional<OnDevice> device_;
};

inline void ExpectNear(const std::vector<float>& seen, const std::vector<float>& expected,
                       double tolerance, const char* what) {
  ASSERT_EQ(seen.size(), expected.size()) << what;
  double scale = 1e-6;
  for (const float value : expected) scale = std::max(scale, std::abs(static_cast<double>(value)));
  for (size_t i = 0; i < seen.size(); ++i) {
    ASSERT_TRUE(std::abs(seen[i] - expected[i]) <= tolerance * scale)
        << what << " at " << i << ": " << seen[i] << " instead of " << expected[i];
  }
}

// By the definition, in double.
inline std::vector<float> PlainConvolution(const ConvolutionSpec& s, const std::vector<float>& x,
                                           const std::vector<float>& w,
                                           const std::vector<float>& bias) {
  std::vector<float> y;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t k = 0; k < s.out_channels; ++k)
      for (int64_t i = 0; i < s.out_height(); ++i)
        for (int64_t j = 0; j < s.out_width(); ++j) {
          double sum = bias.empty() ? 0 : bias[static_cast<size_t>(k)];
          for (int64_t c = 0; c < s.in_channels; ++c)
            for (int64_t p = 0; p < s.kernel_height; ++p)
              for (int64_t q = 0; q < s.kernel_width; ++q) {
                const int64_t row = i * s.stride + p - s.pad_height;
                const int64_t column = j * s.stride + q - s.pad_width;
                if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
                const int64_t from = ((n * s.in_channels + c) * s.height + row) * s.width + column;
                const int64_t by =
                    ((k * s.in_channels + c) * s.kernel_height + p) * s.kernel_width + q;
                sum +=
                    static_cast<double>(x[static_cast<size_t>(from)]) * w[static_cast<size_t>(by)];
              }
          y.push_back(static_cast<float>(sum));
        }
  return y;
}

TEST_P(OpsContract, ConvolutionAndItsGradients) {
  const ConvolutionSpec specs[] = {
      {.batch = 2,
       .in_channels = 3,
       .height = 9,
       .width = 8,
       .out_channels = 16,
       .kernel_height = 3,
       .kernel_width = 3,
       .pad_height = 1,
       .pad_width = 1},
      {.batch = 2,
       .in_channels = 16,
       .height = 8,
       .width = 8,
       .out_channels = 32,
       .kernel_height = 3,
       .kernel_width = 3,
       .stride = 2,
       .pad_height = 1,
       .pad_width = 1},
      {.batch = 2, .in_channels = 16, .height = 8, .width = 8, .out_channels = 32, .stride = 2},
      {.batch = 8, .in_channels = 4, .height = 40, .width = 40, .out_channels = 8, .stride = 2},
      {.batch = 2,
       .in_channels = 8,
       .height = 1,
       .width = 20,
       .out_channels = 24,
       .kernel_width = 3,
       .pad_width = 1,
       .bias = true},
  };
  for (ConvolutionSpec spec : specs) {
    spec.type = type();
    spec.layout = layout();
    SCOPED_TRACE(ShapeText(spec.in_shape()) + " by " + ShapeText(spec.weight_shape()));
    const auto operation = ops_->MakeConvolution(spec);
    const auto x = Values(spec.in_shape(), 1), w = Values(spec.weight_shape(), 2, 0.3F);
    const auto bias =
        spec.bias ? RandomValues(static_cast<size_t>(spec.out_channels), 3) : std::vector<float>();
    const auto dy = Values(spec.out_shape(), 4);

    const Tensor x_there = Put(x, spec.in_shape()), dy_there = Put(dy, spec.out_shape());
    const Tensor y = Empty(spec.out_shape()), dx = Empty(spec.in_shape());
    float* d_weights = device_->Raw(std::vector<float>(w.size(), NAN));
    float* d_bias = device_->Raw(std::vector<float>(static_cast<size_t>(spec.out_channels), NAN));
    operation->SetWeights(device_->Raw(w), spec.bias ? device_->Raw(bias) : nullptr);
    operation->Forward(x_there.data, y.data);
    operation->BackwardData(dy_there.data, dx.data);
    operation->BackwardWeights(x_there.data, dy_there.data, d_weights,
                               spec.bias ? d_bias : nullptr);

    ExpectNear(device_->Back(y), PlainConvolution(spec, x, w, bias), exact() ? 1e-5 : 1e-2, "y");
    const auto loss_of_x = [&](const std::vector<float>& at) {
      return Dot(PlainConvolution(spec, at, w, bias), dy);
    };
    ExpectGradient(loss_of_x, x, device_->Back(dx), 0.1F, tolerance());
    const auto loss_of_w = [&](const std::vector<float>& at) {
      return Dot(PlainConvolution(spec, x, at, bias), dy);
    };
    ExpectGradient(loss_of_w, w, device_->Floats(d_weights, w.size()), 0.1F, tolerance());
    if (!spec.bias) continue;
    const auto loss_of_bias = [&](const std::vector<float>& at) {
      return Dot(PlainConvolution(spec, x, w, at), dy);
    };
    ExpectGradient(loss_of_bias, bias, device_->Floats(d_bias, bias.size()), 0.1F, tolerance());
  }
}

// By the definition, in double: y from x (NCHW), scale, shift and residual.
struct PlainNorm {
  const BatchNormSpec& spec;
  std::vector<double> mean, variance;

  std::vector<float> operator()(const std::vector<float>& x, const std::vector<float>& scale,
                                const std::vector<float>& shift,
                                const std::vector<float>& residual) {
    const int64_t plane = spec.height * spec.width;
    const auto pixels = static_cast<double>(spec.batch * plane);
    mean.assign(static_cast<size_t>(spec.channels), 0);
    variance = mean;
    std::vector<float> y(x.size());
    for (int64_t c = 0; c < spec.channels; ++c) {
      const auto at = static_cast<size_t>(c);
      const auto for_all = [&](const auto& body) {
        for (int64_t n = 0; n < spec.batch; ++n)
          for (int64_t i = 0; i < plane; ++i)
            body(static_cast<size_t>((n * spec.channels + c) * plane + i));
      };
      for_all([&](size_t i) { mean[at] += static_cast<double>(x[i]) / pixels; });
      for_all([&](size_t i) { variance[at] += std::pow(x[i] - mean[at], 2) / pixels; });
      for_all([&](size_t i) {
        double value =
            (x[i] - mean[at]) / std::sqrt(variance[at] + spec.epsilon) * scale[at] + shift[at];
        if (!residual.empty()) value += residual[i];
        if (spec.relu) value = std::max(value, 0.0);
        y[i] = static_cast<float>(value);
      });
    }
    return y;
  }
};

TEST_P(OpsContract, BatchNormAndItsGradients) {
  for (const int form : {0, 1, 2, 3, 4, 5, 6, 7}) {
    BatchNormSpec spec{.batch = 3,
                       .channels = form % 2 ? 80 : 19,
                       .height = 4,
                       .width = 8,
                       .residual = (form & 1) != 0,
                       .relu = (form & 2) != 0,
                       .fused = (form & 4) != 0,
                       .type = type(),
                       .layout = layout()};
    SCOPED_TRACE(form);
    const Shape shape = {spec.batch, spec.channels, spec.height, spec.width};
    const auto channels = static_cast<size_t>(spec.channels);
    auto x = Values(shape, 1, 2), residual = Values(shape, 2), dy = Values(shape, 3);
    for (float& value : x) value += 1;
    x = device_->Back(Put(x, shape));
    const auto more = Values(shape, 4);
    auto scale = RandomValues(channels, 5);
    for (float& value : scale) value += 1.5F;
    const auto shift = RandomValues(channels, 6);
    if (!spec.residual) residual.clear();

    const auto operation = ops_->MakeBatchNorm(spec);
    float* running_mean = device_->Raw(std::vector<float>(channels, 0.5F));
    float* running_variance = device_->Raw(std::vector<float>(channels, 2));
    float* d_scale = device_->Raw(std::vector<float>(channels, NAN));
    float* d_shift = device_->Raw(std::vector<float>(channels, NAN));
    const BatchNormVariables variables{device_->Raw(scale), device_->Raw(shift), running_mean,
                                       running_variance};
    const Tensor x_there = Put(x, shape), y = Empty(shape), dx = Empty(shape);
    const Tensor dy_there = Put(dy, shape), more_there = Put(more, shape);
    const Tensor residual_there = spec.residual ? Put(residual, shape) : Tensor{};
    const Tensor d_residual = Empty(shape);
    operation->Train(variables, x_there.data, residual_there.data, y.data);

    PlainNorm plain{spec, {}, {}};
    const auto expected = plain(x, scale, shift, residual);
    ExpectNear(device_->Back(y), expected, exact() ? 1e-5 : 1e-2, "y");
    const double pixels = static_cast<double>(spec.batch * spec.height * spec.width);
    std::vector<float> mean, variance;
    for (size_t c = 0; c < channels; ++c) {
      mean.push_back(static_cast<float>(0.9 * 0.5 + 0.1 * plain.mean[c]));
      variance.push_back(
          static_cast<float>(0.9 * 2 + 0.1 * plain.variance[c] * pixels / (pixels - 1)));
    }
    ExpectNear(device_->Floats(running_mean, channels), mean, 1e-5, "running mean");
    ExpectNear(device_->Floats(running_variance, channels), variance, 1e-5, "running variance");

    operation->Backward(variables, dy_there.data, more_there.data, x_there.data, y.data, dx.data,
                        spec.residual ? d_residual.data : nullptr, d_scale, d_shift);
    std::vector<float> whole(dy.size());
    for (size_t i = 0; i < dy.size(); ++i) whole[i] = dy[i] + more[i];
    const double allowed = exact() ? 1e-2 : 6e-2;  // ReLU has a kink
    ExpectGradient([&](const auto& at) { return Dot(plain(at, scale, shift, residual), whole); }, x,
                   device_->Back(dx), 0.01F, allowed);
    ExpectGradient([&](const auto& at) { return Dot(plain(x, at, shift, residual), whole); }, scale,
                   device_->Floats(d_scale, channels), 0.01F, allowed);
    ExpectGradient([&](const auto& at) { return Dot(plain(x, scale, at, residual), whole); }, shift,
                   device_->Floats(d_shift, channels), 0.01F, allowed);
    if (!spec.residual) continue;
    ExpectGradient([&](const auto& at) { return Dot(plain(x, scale, shift, at), whole); }, residual,
                   device_->Back(d_residual), 0.01F, allowed);
  }
}

// Another device with the same samples changes their number, and nothing else.
TEST_P(OpsContract, BatchNormOverDevices) {
  BatchNormSpec spec{.batch = 3,
                     .channels = 24,
                     .height = 32,
                     .width = 32,
                     .residual = true,
                     .relu = true,
                     .type = type(),
                     .layout = layout()};
  const Shape shape = {spec.batch, spec.channels, spec.height, spec.width};
  const auto channels = static_cast<size_t>(spec.channels);
  const Tensor x = Put(RandomValues(static_cast<size_t>(Elements(shape)), 1, 2), shape);
  const Tensor residual = Put(RandomValues(static_cast<size_t>(Elements(shape)), 2), shape);
  const float* scale = device_->Raw(std::vector<float>(channels, 1.5F));
  const float* shift = device_->Raw(std::vector<float>(channels, 0.25F));
  struct Results {
    std::vector<float> y, mean, variance, dx, d_residual, d_scale, d_shift;
  };
  const auto run = [&] {
    const auto operation = ops_->MakeBatchNorm(spec);
    float* mean = device_->Raw(std::vector<float>(channels, 0.5F));
    float* variance = device_->Raw(std::vector<float>(channels, 2));
    float* d_scale = device_->Raw(std::vector<float>(channels, NAN));
    float* d_shift = device_->Raw(std::vector<float>(channels, NAN));
    const Tensor y = Empty(shape), dx = Empty(shape), d_residual = Empty(shape);
    const Tensor dy = Put(RandomValues(static_cast<size_t>(Elements(shape)), 3), shape);
    const BatchNormVariables variables{scale, shift, mean, variance};
    operation->Train(variables, x.data, residual.data, y.data);
    operation->Backward(variables, dy.data, nullptr, x.data, y.data, dx.data, d_residual.data,
                        d_scale, d_shift);
    return Results{device_->Back(y),
                   device_->Floats(mean, channels),
                   device_->Floats(variance, channels),
                   device_->Back(dx),
                   device_->Back(d_residual),
                   device_->Floats(d_scale, channels),
                   device_->Floats(d_shift, channels)};
  };
  const Results alone = run();
  size_t calls = 0;
  spec.sum_over_devices = [&](float* values, size_t count) {
    EXPECT_EQ(count, 2 * channels + 1);
    EXPECT_EQ(values[2 * channels], 3 * 32 * 32);
    for (size_t i = 0; i < count; ++i) values[i] *= 2;
    ++calls;
  };
  const Results beside = run();
  EXPECT_EQ(calls, 2u);
  const double allowed = exact() ? 1e-5 : 1e-2;
  ExpectNear(beside.y, alone.y, allowed, "y");
  ExpectNear(beside.mean, alone.mean, 1e-5, "running mean");
  ExpectNear(beside.dx, alone.dx, allowed, "dx");
  ExpectNear(beside.d_residual, alone.d_residual, allowed, "gradient of the residual");
  ExpectNear(beside.d_scale, alone.d_scale, 1e-4, "gradient of the scale");
  ExpectNear(beside.d_shift, alone.d_shift, 1e-4, "gradient of the shift");
  // Unbiased: n / (n - 1), for 3072 or 6144 pixels.
  std::vector<float> variance;
  for (const float value : alone.variance) {
    variance.push_back(1.8F + (value - 1.8F) * 3071 / 3072 * 6144 / 6143);
  }
  ExpectNear(beside.variance, variance, 1e-6, "running variance");
}

TEST_P(OpsContract, BatchNormWithRunningStatistics) {
  BatchNormSpec spec{.batch = 2,
                     .channels = 16,
                     .height = 4,
                     .width = 4,
                     .relu = true,
                     .type = type(),
                     .layout = layout()};
  const Shape shape = {2, 16, 4, 4};
  const auto x = Values(shape, 1);
  const auto mean = RandomValues(16, 2), scale = RandomValues(16, 3), shift = RandomValues(16, 4);
  const std::vector<float> variance(16, 0.25F);
  const auto operation = ops_->MakeBatchNorm(spec);
  float* running_mean = device_->Raw(mean);
  const BatchNormVariables variables{device_->Raw(scale), device_->Raw(shift), running_mean,
                                     device_->Raw(variance)};
  const Tensor y = Empty(shape);
  operation->Infer(variables, Put(x, shape).data, nullptr, y.data);
  std::vector<float> expected;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i / 16 % 16;
    const double value = (x[i] - mean[c]) / std::sqrt(0.25 + 1e-5) * scale[c] + shift[c];
    expected.push_back(static_cast<float>(std::max(value, 0.0)));
  }
  ExpectNear(device_->Back(y), expected, exact() ? 1e-5 : 1e-2, "y");
  EXPECT_EQ(device_->Floats(running_mean, 16), mean) << "evaluation moves no statistics";
}

TEST_P(OpsContract, DenseAndItsGradients) {
  const DenseSpec spec{.batch = 5, .in = 24, .out = 10, .type = type()};
  const auto x = Values({5, 24}, 1), w = Values({10, 24}, 2);
  const auto bias = RandomValues(10, 3), dy = RandomValues(50, 4);
  const auto plain = [&](const auto& a, const auto& b, const auto& c) {
    std::vector<float> y;
    for (size_t n = 0; n < 5; ++n)
      for (size_t k = 0; k < 10; ++k) {
        double sum = c[k];
        for (size_t i = 0; i < 24; ++i) sum += static_cast<double>(a[n * 24 + i]) * b[k * 24 + i];
        y.push_back(static_cast<float>(sum));
      }
    return y;
  };
  const auto operation = ops_->MakeDense(spec);
  const Tensor x_there = Put(x, {5, 24}), dx = Empty({5, 24});
  float* y = device_->Raw(std::vector<float>(50, NAN));
  float* d_weights = device_->Raw(std::vector<float>(240, NAN));
  float* d_bias = device_->Raw(std::vector<float>(10, NAN));
  const float* dy_there = device_->Raw(dy);
  operation->SetWeights(device_->Raw(w), device_->Raw(bias));
  operation->Forward(x_there.data, y);
  operation->BackwardData(dy_there, dx.data);
  operation->BackwardWeights(x_there.data, dy_there, d_weights, d_bias);
  ExpectNear(device_->Floats(y, 50), plain(x, w, bias), exact() ? 1e-5 : 1e-2, "y");
  ExpectGradient([&](const auto& at) { return Dot(plain(at, w, bias), dy); }, x, device_->Back(dx),
                 0.1F, tolerance());
  ExpectGradient([&](const auto& at) { return Dot(plain(x, at, bias), dy); }, w,
                 device_->Floats(d_weights, 240), 0.1F, tolerance());
  ExpectGradient([&](const auto& at) { return Dot(plain(x, w, at), dy); }, bias,
                 device_->Floats(d_bias, 10), 0.1F, tolerance());
}

TEST_P(OpsContract, ConcatenatesChannelsAndSplitsThem) {
  const Shape shapes[] = {{2, 3, 4, 5}, {2, 1, 4, 5}, {2, 8, 4, 5}};
  std::vector<Tensor> parts;
  std::vector<std::vector<float>> values;
  for (const Shape& shape : shapes) {
    values.push_back(Values(shape, 1 + parts.size()));
    parts.push_back(Put(values.back(), shape));
  }
  const Tensor whole = Empty({2, 12, 4, 5});
  ops_->Concatenate(parts, whole);
  std::vector<float> expected;
  for (size_t image = 0; image < 2; ++image) {
    for (const std::vector<float>& part : values) {
      const auto half = static_cast<ptrdiff_t>(part.size() / 2);
      const auto begin = part.begin() + static_cast<ptrdiff_t>(image) * half;
      expected.insert(expected.end(), begin, begin + half);
    }
  }
  EXPECT_EQ(device_->Back(whole), expected);
  std::vector<Tensor> back;
  for (const Shape& shape : shapes) back.push_back(Empty(shape));
  ops_->Split(whole, back);
  for (size_t i = 0; i < back.size(); ++i) EXPECT_EQ(device_->Back(back[i]), values[i]);
}

TEST_P(OpsContract, ActivationsAndTheirGradients) {
  for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
    const Shape shape = {2, 16, 4, 4};
    const auto x = Values(shape, 1), dy = Values(shape, 2);
    const auto plain = [&](const auto& a) {
      std::vector<float> y;
      for (const float value : a) {
        y.push_back(activation == Activation::kRelu ? std::max(value, 0.0F) : std::tanh(value));
      }
      return y;
    };
    const Tensor y = Empty(shape), dx = Empty(shape);
    ops_->Activate(activation, Put(x, shape), y);
    ops_->ActivateBackward(activation, y, Put(dy, shape), dx);
    ExpectNear(device_->Back(y), plain(x), exact() ? 1e-5 : 1e-2, "y");
    ExpectGradient([&](const auto& at) { return Dot(plain(at), dy); }, x, device_->Back(dx), 0.001F,
                   exact() ? 1e-2 : 5e-2);
  }
}

TEST_P(OpsContract, ActivationsKeepWhatIsNoNumber) {
  const Shape shape = {2, 16, 4, 4};
  std::vector<float> x(512, -1.0F);
  for (size_t i = 0; i < x.size(); i += 7) x[i] = i % 2 ? NAN : -NAN;
  x[1] = -INFINITY;
  for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
    const Tensor in = Put(x, shape), y = Empty(shape);
    ops_->Activate(activation, in, y);
    ops_->Activate(activation, in, in);
    for (const Tensor& result : {y, in}) {
      const auto values = device_->Back(result);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(std::isnan(values[i]), i % 7 == 0) << i << ": " << values[i];
      }
      EXPECT_EQ(values[1], activation == Activation::kRelu ? 0 : -1);
    }
  }
}

TEST_P(OpsContract, SumsAndConversions) {
  const Shape shape = {2, 3, 4, 5};
  const auto a = Values(shape, 1), b = Values(shape, 2);
  const Tensor to = Put(b, shape);
  ops_->Add(Put(a, shape), to);
  std::vector<float> sum;
  for (size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  ExpectNear(device_->Back(to), sum, exact() ? 1e-6 : 1e-2, "sum");
  EXPECT_EQ(device_->Back(Put(a, shape)), a);
}

TEST_P(OpsContract, SoftmaxCrossEntropyCountsWhatItShould) {
  const auto logits = RandomValues(4 * 3, 1, 4);
  const std::vector<int64_t> labels = {2, 0, 7, 1};  // one is out of range
  const std::vector<uint8_t> mask = {1, 1, 1, 0};
  const Tensor there{device_->Raw(logits), ElementType::kF32, {4, 3}};
  float* gradient = device_->Raw(std::vector<float>(12, NAN));
  LossSums* sums = device_->Raw(std::vector<LossSums>(1));
  ops_->SoftmaxCrossEntropy(there, device_->Raw(labels), device_->Raw(mask), 0.5F, gradient, sums);
  LossSums seen;
  ops_->Download(&seen, sums, sizeof seen);
  double loss = 0;
  float correct = 0;
  const auto plain = [&](const std::vector<float>& at) {
    loss = correct = 0;
    for (size_t n = 0; n < 2; ++n) {
      double total = 0;
      size_t best = 0;
      for (size_t k = 0; k < 3; ++k) {
        total += std::exp(static_cast<double>(at[n * 3 + k]));
        if (at[n * 3 + k] > at[n * 3 + best]) best = k;
      }
      const auto label = static_cast<size_t>(labels[n]);
      loss += std::log(total) - at[n * 3 + label];
      correct += best == label;
    }
    return loss;
  };
  plain(logits);
  EXPECT_NEAR(seen.loss, loss, 1e-4);
  EXPECT_EQ(seen.correct, correct);
  EXPECT_EQ(seen.samples, 2);
  EXPECT_EQ(seen.bad_labels, 1);
  const auto values = device_->Floats(gradient, 12);
  for (size_t i = 6; i < 12; ++i) EXPECT_EQ(values[i], 0) << "nothing of what does not count";
  ExpectGradient([&](const auto& at) { return 0.5 * plain(at); }, logits, values, 0.01F, 1e-2);
}

TEST_P(OpsContract, EmbeddingAndItsGradient) {
  const Shape shape = {3, 16, 1, 5};
  const std::vector<int64_t> ids = {1, 6, 6, 2, 0, 0, 7, -1,
                                    3, 1, 6, 1, 1, 5, 0};  // two are not valid ids
  const auto table = Values({7, 16, 1, 1}, 1), dy = Values(shape, 2);
  const auto plain = [&](const std::vector<float>& at) {
    std::vector<float> y;
    for (size_t n = 0; n < 3; ++n)
      for (size_t c = 0; c < 16; ++c)
        for (size_t i = 0; i < 5; ++i) {
          const int64_t id = ids[n * 5 + i];
          y.push_back(id > 0 && id < 7 ? at[static_cast<size_t>(id) * 16 + c] : 0);
        }
    return y;
  };
  for (const ElementType id_type : {ElementType::kI64, ElementType::kI32}) {
    const auto operation = ops_->MakeEmbedding({.batch = 3,
                                                .length = 5,
                                                .vocabulary = 7,
                                                .dims = 16,
                                                .id_type = id_type,
                                                .type = type(),
                                                .layout = layout()});
    const void* there = device_->Raw(ids);
    if (id_type == ElementType::kI32) {
      there = device_->Raw(std::vector<int32_t>(ids.begin(), ids.end()));
    }
    LossSums* sums = device_->Raw(std::vector<LossSums>{{.loss = 4, .bad_labels = 1}});
    const Tensor y = Empty(shape);
    float* d_table = device_->Raw(std::vector<float>(table.size(), NAN));
    operation->Forward(there, device_->Raw(table), y.data, sums);
    operation->Backward(there, Put(dy, shape).data, d_table, false);
    LossSums seen;
    ops_->Download(&seen, sums, sizeof seen);
    EXPECT_EQ(seen.bad_labels, 3) << "added to what was there";
    EXPECT_EQ(seen.loss, 4);
    EXPECT_EQ(device_->Back(y), plain(table));
    const auto gradient = device_->Floats(d_table, table.size());
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(gradient[i], 0) << "padding learns nothing";
      EXPECT_EQ(gradient[4 * 16 + i], 0) << "nor does what is not there";
    }
    ExpectGradient([&](const auto& at) { return Dot(plain(at), dy); }, table, gradient, 0.1F,
                   tolerance());
    // A second look-up in the same table, of other gradients.
    const auto more = Values(shape, 3);
    operation->Backward(there, Put(more, shape).data, d_table, true);
    const auto both = device_->Floats(d_table, table.size());
    operation->Backward(there, Put(more, shape).data, d_table, false);
    const auto second = device_->Floats(d_table, table.size());
    for (size_t i = 0; i < both.size(); ++i) {
      EXPECT_NEAR(both[i], gradient[i] + second[i], 1e-5 * (1 + std::abs(both[i])));
    }
  }
}

TEST_P(OpsContract, FactorisationMachineAndItsGradients) {
  const FactorisationSpec spec{.batch = 5, .first = 6, .second = 10, .factors = 4, .type = type()};
  const auto first = Values({5, 6}, 1), second = Values({5, 10}, 2);
  const auto bias = RandomValues(1, 3), weights = RandomValues(16, 4);
  const auto factors = RandomValues(64, 5), dy = RandomValues(5, 6);
  // By pairs, as the paper defines it.
  const auto plain = [&](const auto& a, const auto& b, const auto& w0, const auto& w,
                         const auto& v) {
    std::vector<float> y;
    for (size_t n = 0; n < 5; ++n) {
      const auto x = [&](size_t i) {
        return static_cast<double>(i < 6 ? a[n * 6 + i] : b[n * 10 + i - 6]);
      };
      double sum = w0[0];
      for (size_t i = 0; i < 16; ++i) {
        sum += w[i] * x(i);
        for (size_t j = i + 1; j < 16; ++j)
          for (size_t f = 0; f < 4; ++f) sum += v[i * 4 + f] * v[j * 4 + f] * x(i) * x(j);
      }
      y.push_back(static_cast<float>(sum));
    }
    return y;
  };
  const auto operation = ops_->MakeFactorisation(spec);
  const FactorisationArrays<const float> variables{device_->Raw(bias), device_->Raw(weights),
                                                   device_->Raw(factors)};
  const FactorisationArrays<float> gradients{device_->Raw(std::vector<float>(1, NAN)),
                                             device_->Raw(std::vector<float>(16, NAN)),
                                             device_->Raw(std::vector<float>(64, NAN))};
  const Tensor first_there = Put(first, {5, 6}), second_there = Put(second, {5, 10});
  const Tensor d_first = Empty({5, 6}), d_second = Empty({5, 10});
  float* y = device_->Raw(std::vector<float>(5, NAN));
  operation->Forward(variables, first_there.data, second_there.data, y);
  operation->Backward(variables, first_there.data, second_there.data, device_->Raw(dy),
                      d_first.data, d_second.data, gradients);
  ExpectNear(device_->Floats(y, 5), plain(first, second, bias, weights, factors), 1e-5, "y");
  const auto expect = [&](const auto& loss, const std::vector<float>& at,
                          const std::vector<float>& gradient) {
    ExpectGradient([&](const auto& moved) { return Dot(loss(moved), dy); }, at, gradient, 0.01F,
                   tolerance());
  };
  expect([&](const auto& at) { return plain(at, second, bias, weights, factors); }, first,
         device_->Back(d_first));
  expect([&](const auto& at) { return plain(first, at, bias, weights, factors); }, second,
         device_->Back(d_second));
  expect([&](const auto& at) { return plain(first, second, at, weights, factors); }, bias,
         device_->Floats(gradients.bias, 1));
  expect([&](const auto& at) { return plain(first, second, bias, at, factors); }, weights,
         device_->Floats(gradients.weights, 16));
  expect([&](const auto& at) { return plain(first, second, bias, weights, at); }, factors,
         device_->Floats(gradients.factors, 64));
}

TEST_P(OpsContract, SquaredErrorCountsWhatItShould) {
  const auto predictions = RandomValues(4, 1, 4);
  const std::vector<float> targets = {1, -2, 3, NAN};
  const std::vector<uint8_t> mask = {1, 1, 1, 0};
  const Tensor there{device_->Raw(predictions), ElementType::kF32, {4}};
  float* gradient = device_->Raw(std::vector<float>(4, NAN));
  LossSums* sums = device_->Raw(std::vector<LossSums>{{7, 7, 7, 2}});
  ops_->SquaredError(there, device_->Raw(targets), device_->Raw(mask), 0.5F, gradient, sums);
  LossSums seen;
  ops_->Download(&seen, sums, sizeof seen);
  const auto plain = [&](const std::vector<float>& at) {
    double loss = 0;
    for (size_t i = 0; i < 3; ++i) loss += std::pow(static_cast<double>(at[i]) - targets[i], 2);
    return loss;
  };
  EXPECT_NEAR(seen.loss, plain(predictions), 1e-4);
  EXPECT_EQ(seen.correct, 0);
  EXPECT_EQ(seen.samples, 3);
  EXPECT_EQ(seen.bad_labels, 2) << "stays as it was";
  const auto values = device_->Floats(gradient, 4);
  EXPECT_EQ(values[3], 0) << "nothing of what does not count";
  ExpectGradient([&](const auto& at) { return 0.5 * plain(at); }, predictions, values, 0.01F, 1e-2);
  ops_->SquaredError(there, device_->Raw(targets), device_->Raw(mask), 0, nullptr, sums);
}

TEST_P(OpsContract, OptimizersMoveVariablesAsTheirFormulasSay) {
  const size_t count = 40'000;  // more than a thread takes at a time
  const auto value = RandomValues(count, 1), gradient = RandomValues(count, 2);
  const auto velocity = RandomValues(count, 3);
  float* there = device_->Raw(value);
  float* velocity_there = device_->Raw(velocity);
  const float* gradient_there = device_->Raw(gradient);
  ops_->Sgd({.rate = 0.1F, .momentum = 0.9F, .decay = 0.01F}, there, gradient_there, velocity_there,
            count);
  std::vector<float> expected, expected_velocity;
  for (size_t i = 0; i < count; ++i) {
    expected_velocity.push_back(0.9F * velocity[i] + gradient[i] + 0.01F * value[i]);
    expected.push_back(value[i] - 0.1F * expected_velocity[i]);
  }
  ExpectNear(device_->Floats(there, count), expected, 1e-5, "after SGD");
  ExpectNear(device_->Floats(velocity_there, count), expected_velocity, 1e-5, "velocity");

  float* adam = device_->Raw(value);
  float* first = device_->Raw(std::vector<float>(count, 0));
  float* second = device_->Raw(std::vector<float>(count, 0));
  std::vector<double> m(count, 0), v(count, 0), at(value.begin(), value.end());
  for (int64_t step = 1; step <= 3; ++step) {
    ops_->Adam({.rate = 0.01F, .decay = 0.1F, .step = step}, adam, gradient_there, first, second,
               count);
    for (size_t i = 0; i < count; ++i) {
      const double g = gradient[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double m_hat = m[i] / (1 - std::pow(0.9, step));
      const double v_hat = v[i] / (1 - std::pow(0.999, step));
      at[i] -= 0.01 * m_hat / (std::sqrt(v_hat) + 1e-8) + 0.01 * 0.1 * at[i];
    }
  }
  ExpectNear(device_->Floats(adam, count), {at.begin(), at.end()}, 1e-4, "after Adam");
}

}  // namespace recpack::train
