// Contract tests for captured and replayed work on every backend; each backend's tests instantiate
// these.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "src/train/ops/ops.h"
#include "tests/train/directional.h"
#include "tests/train/on_device.h"

namespace recpack::train {

// Returns null without such a device.
class RepetitionContract : public testing::TestWithParam<std::function<std::unique_ptr<Ops>()>> {
 protected:
  static constexpr size_t kCount = 1000;

  void SetUp() override {
    ops_ = GetParam()();
    if (!ops_) GTEST_SKIP() << "no such device here";
    ops_->Attach();
    device_.emplace(*ops_);
  }

  // Arrays of an optimizer, with the same values each time.
  struct Slots {
    float *value, *gradient, *first, *second;
  };
  Slots MakeSlots() {
    const std::vector<float> zeros(kCount, 0);
    return {device_->Raw(RandomValues(kCount, 1)), device_->Raw(RandomValues(kCount, 2)),
            device_->Raw(zeros), device_->Raw(zeros)};
  }

  std::unique_ptr<Ops> ops_;
  std::optional<OnDevice> device_;
};

TEST_P(RepetitionContract, CapturedWorkIsDoneByEachReplayAndNotBefore) {
  const std::vector<float> ones(kCount, 1);
  const Tensor one{device_->Raw(ones), ElementType::kF32, {kCount}};
  const Tensor sum{device_->Raw(ones), ElementType::kF32, {kCount}};
  const auto work = ops_->Capture([&] {
    ops_->Add(one, sum);
    ops_->Add(one, sum);
  });
  EXPECT_EQ(device_->Floats(sum.As<float>(), kCount), ones);
  for (int i = 1; i <= 3; ++i) {
    work->Replay();
    EXPECT_EQ(device_->Floats(sum.As<float>(), kCount),
              std::vector(kCount, static_cast<float>(1 + 2 * i)));
  }
  // Other work may be enqueued in between.
  ops_->Zero(sum.data, kCount * sizeof(float));
  work->Replay();
  EXPECT_EQ(device_->Floats(sum.As<float>(), kCount), std::vector(kCount, 2.0F));
}

// Captured updates use the rates in device memory, bit for bit, also when they run beside other
// work.
TEST_P(RepetitionContract, CapturedUpdatesTakeTheRatesOfEachStep) {
  const Slots sgd = MakeSlots(), same_sgd = MakeSlots(), adam = MakeSlots(), same = MakeSlots();
  const DeviceArray sgd_rates = ops_->Allocate(sizeof(UpdateRates));
  const DeviceArray adam_rates = ops_->Allocate(sizeof(UpdateRates));
  const SgdUpdate by_sgd{.momentum = 0.9F, .decay = 0.01F, .rates = sgd_rates.As<UpdateRates>()};
  const AdamUpdate by_adam{.decay = 0.01F, .rates = adam_rates.As<UpdateRates>()};
  const auto step = ops_->Capture([&] {
    ops_->Beside([&] { ops_->Sgd(by_sgd, sgd.value, sgd.gradient, sgd.first, kCount); });
    ops_->Add({adam.gradient, ElementType::kF32, {kCount}},
              {adam.gradient, ElementType::kF32, {kCount}});
    ops_->Beside(
        [&] { ops_->Adam(by_adam, adam.value, adam.gradient, adam.first, adam.second, kCount); });
    ops_->Rejoin();
  });
  for (int i = 1; i <= 4; ++i) {
    const float rate = 0.1F / static_cast<float>(i);
    ops_->Sgd({.rate = rate, .momentum = 0.9F, .decay = 0.01F}, same_sgd.value, same_sgd.gradient,
              same_sgd.first, kCount);
    const Tensor gradient{same.gradient, ElementType::kF32, {kCount}};
    ops_->Add(gradient, gradient);
    const AdamUpdate update{.rate = rate, .decay = 0.01F, .step = i};
    ops_->Adam(update, same.value, same.gradient, same.first, same.second, kCount);

    const UpdateRates of_adam = ToRates(update), of_sgd{.rate = rate};
    ops_->Upload(adam_rates.data(), &of_adam, sizeof of_adam);
    ops_->Upload(sgd_rates.data(), &of_sgd, sizeof of_sgd);
    step->Replay();
  }
  EXPECT_EQ(device_->Floats(sgd.value, kCount), device_->Floats(same_sgd.value, kCount));
  EXPECT_EQ(device_->Floats(adam.value, kCount), device_->Floats(same.value, kCount));
  EXPECT_NE(device_->Floats(adam.value, kCount), RandomValues(kCount, 1));
}

TEST_P(RepetitionContract, AReadbackHasWhatWasThereWhenItWasEnqueued) {
  const auto readback = ops_->MakeReadback(4 * sizeof(float));
  float* const value = device_->Raw(std::vector<float>{0});
  const Tensor one{device_->Raw(std::vector<float>{1}), ElementType::kF32, {1}};
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 4; ++i) {
      ops_->Add(one, {value, ElementType::kF32, {1}});
      readback->Enqueue(i * sizeof(float), value, sizeof(float));
    }
    ops_->Zero(value, sizeof(float));
    const auto* const seen = static_cast<const float*>(readback->Wait());
    EXPECT_THAT(std::vector(seen, seen + 4), testing::ElementsAre(1, 2, 3, 4));
  }
}

TEST_P(RepetitionContract, FewBytesMayChangeOnceTheyWereUploaded) {
  for (const size_t bytes : {size_t{1}, size_t{12}, size_t{64}, size_t{65}}) {
    std::vector<uint8_t> from(bytes), back(bytes);
    std::iota(from.begin(), from.end(), uint8_t{7});
    const std::vector<uint8_t> expected = from;
    const DeviceArray to = ops_->Allocate(bytes);
    ops_->Upload(to.data(), from.data(), bytes);
    std::fill(from.begin(), from.end(), uint8_t{0});
    ops_->Download(back.data(), to.data(), bytes);
    EXPECT_EQ(back, expected) << bytes;
  }
}

}  // namespace recpack::train
