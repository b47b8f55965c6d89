// Contract of the pooling operations of a device: ops_contract.h has the fixture.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/train/ops_contract.h"

namespace recpack::train {

// By the definition, in double; pixels outside of the image are left out.
inline std::vector<float> PlainPooling(const PoolingSpec& s, const std::vector<float>& x) {
  std::vector<float> y;
  for (int64_t plane = 0; plane < s.batch * s.channels; ++plane)
    for (int64_t i = 0; i < s.out_height(); ++i)
      for (int64_t j = 0; j < s.out_width(); ++j) {
        double largest = -1e9, sum = 0;
        int seen = 0;
        for (int64_t p = 0; p < s.window_height; ++p)
          for (int64_t q = 0; q < s.window_width; ++q) {
            const int64_t row = i * s.stride + p - s.pad, column = j * s.stride + q - s.pad;
            if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
            const double value =
                x[static_cast<size_t>((plane * s.height + row) * s.width + column)];
            largest = std::max(largest, value);
            sum += value;
            ++seen;
          }
        y.push_back(static_cast<float>(s.kind == PoolingKind::kMax ? largest : sum / seen));
      }
  return y;
}

TEST_P(OpsContract, PoolingAndItsGradients) {
  struct Case {
    const char* what;
    PoolingSpec spec;
    Shape out;
    double tolerance;  // of values with fewer bits
  };
  const Case cases[] = {
      {"even windows",
       {.height = 6, .width = 4, .window_height = 2, .window_width = 2, .stride = 2},
       {2, 16, 3, 2},
       1e-2},
      {"padding",
       {.height = 6, .width = 5, .window_height = 3, .window_width = 3, .stride = 2, .pad = 1},
       {2, 16, 3, 3},
       3e-2},
      {"the number of windows rounded up",
       {.height = 6,
        .width = 8,
        .window_height = 3,
        .window_width = 3,
        .stride = 2,
        .round_up = true},
       {2, 16, 3, 4},
       3e-2}};
  for (const Case& each : cases)
    for (const PoolingKind kind : {PoolingKind::kMax, PoolingKind::kAverage}) {
      SCOPED_TRACE(each.what);
      PoolingSpec spec = each.spec;
      spec.kind = kind;
      spec.batch = 2;
      spec.channels = 16;
      spec.type = type();
      spec.layout = layout();
      const Shape shape = {2, 16, spec.height, spec.width};
      ASSERT_EQ(spec.out_shape(), each.out);
      auto x = Values(shape, 1);
      for (float& value : x) value -= 3;  // below 0, as zeros of padding would not be
      const auto dy = Values(spec.out_shape(), 2);
      const auto operation = ops_->MakePooling(spec);
      const Tensor y = Empty(spec.out_shape()), dx = Empty(shape);
      operation->Forward(Put(x, shape).data, y.data);
      operation->Backward(Put(dy, spec.out_shape()).data, dx.data);
      ExpectNear(device_->Back(y), PlainPooling(spec, x), exact() ? 1e-6 : each.tolerance, "y");
      ExpectGradient([&](const auto& at) { return Dot(PlainPooling(spec, at), dy); }, x,
                     device_->Back(dx), 0.001F, exact() ? 1e-2 : 5e-2);
    }
}

TEST_P(OpsContract, PoolingWindowsBeginWithinTheImage) {
  PoolingSpec spec{.batch = 2,
                   .channels = 16,
                   .window_height = 1,
                   .window_width = 1,
                   .stride = 2,
                   .round_up = true};
  spec.height = spec.width = 5;
  EXPECT_EQ(spec.out_shape(), (Shape{2, 16, 3, 3}));
  spec.height = spec.width = 6;
  EXPECT_EQ(spec.out_shape(), (Shape{2, 16, 3, 3}));
}

TEST_P(OpsContract, PoolingKeepsWhatIsNoNumber) {
  for (const PoolingKind kind : {PoolingKind::kMax, PoolingKind::kAverage}) {
    const PoolingSpec spec{.kind = kind,
                           .batch = 2,
                           .channels = 16,
                           .height = 5,
                           .width = 3,
                           .window_height = 3,
                           .window_width = 2,
                           .stride = 1,
                           .type = type(),
                           .layout = layout()};
    const Shape shape = {2, 16, 5, 3};
    auto x = Values(shape, 1);
    constexpr size_t kPlane = 20;
    x[kPlane * 15] = -NAN;                                           // at 0, 0: in one window
    for (size_t i = 0; i < 15; ++i) x[(kPlane + 1) * 15 + i] = NAN;  // all of a plane
    const auto operation = ops_->MakePooling(spec);
    const Tensor y = Empty(spec.out_shape());
    operation->Forward(Put(x, shape).data, y.data);
    const auto result = device_->Back(y);
    for (size_t i = 0; i < result.size(); ++i) {
      const bool none = i == kPlane * 6 || i / 6 == kPlane + 1;
      ASSERT_EQ(std::isnan(result[i]), none) << "at " << i << ": " << result[i];
    }
  }
}

TEST_P(OpsContract, PoolingGivesTheFirstOfEqualsTheGradientAndAddsUpWhatOverlaps) {
  for (const int stride : {1, 2}) {
    const PoolingSpec spec{.batch = 2,
                           .channels = 16,
                           .height = 4,
                           .width = 4,
                           .window_height = 2,
                           .window_width = 2,
                           .stride = stride,
                           .type = type(),
                           .layout = layout()};
    const Shape shape = {2, 16, 4, 4};
    const auto operation = ops_->MakePooling(spec);
    const Tensor x = Put(std::vector<float>(512, 0.5F), shape), y = Empty(spec.out_shape());
    const Tensor dy = Put(std::vector<float>(static_cast<size_t>(y.elements()), 1), y.shape);
    const Tensor dx = Empty(shape);
    operation->Forward(x.data, y.data);
    operation->Backward(dy.data, dx.data);
    const auto seen = device_->Back(dx);
    for (size_t i = 0; i < seen.size(); ++i) {
      const size_t row = i / 4 % 4, column = i % 4;
      const bool first = stride == 1 ? row < 3 && column < 3 : row % 2 == 0 && column % 2 == 0;
      ASSERT_EQ(seen[i], first ? 1 : 0) << "at " << i << ", stride " << stride;
    }
  }
  // Averages: a pixel in the middle is in four windows, one at a corner in one.
  const PoolingSpec spec{.kind = PoolingKind::kAverage,
                         .batch = 1,
                         .channels = 16,
                         .height = 3,
                         .width = 3,
                         .window_height = 2,
                         .window_width = 2,
                         .type = type(),
                         .layout = layout()};
  const auto operation = ops_->MakePooling(spec);
  const Tensor x = Put(std::vector<float>(144, 1), {1, 16, 3, 3}), y = Empty(spec.out_shape());
  const Tensor dy = Put(std::vector<float>(64, 1), y.shape), dx = Empty({1, 16, 3, 3});
  operation->Forward(x.data, y.data);
  operation->Backward(dy.data, dx.data);
  const auto seen = device_->Back(dx);
  const float expected[] = {0.25F, 0.5F, 0.25F, 0.5F, 1, 0.5F, 0.25F, 0.5F, 0.25F};
  for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], expected[i % 9]) << "at " << i;
}

}  // namespace recpack::train
