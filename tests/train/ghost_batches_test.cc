// Computes several devices' result on one: each of a step's batches is normalised with its own
// statistics (a ghost batch: Hoffer, Hubara and Soudry, "Train longer, generalize better", 2017),
// and their gradients are summed before one update.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/base/format.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/layers/optimizer.h"
#include "src/train/run/tower.h"
#include "src/train/setup/complete_options.h"
#include "src/train/setup/make_model.h"
#include "tests/train/on_device.h"
#include "tests/train/small_trainings.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

// One device with one copy of the variables; `parts` batches make a step.
class GhostBatches {
 public:
  GhostBatches(const TrainerOptions& options, size_t parts)
      : options_(CompleteOptions(options)),
        parts_(parts),
        ops_(MakeCpuOps({.threads = 1})),
        device_(*ops_),
        sums_(device_.Raw(std::vector<LossSums>(1))) {
    ops_->Attach();
    model_ = MakeModel(options_, {.ops = ops_.get(), .batch = options_.batch_size});
    model_->Build(1, options_.seed);
  }

  // The mean loss of each step.
  std::vector<double> Losses() {
    DeviceFeeder feeder(Dataset::Open(options_.data, {.split = options_.train_split}),
                        {.fields = ModelFields(options_, true),
                         .batch_size = options_.batch_size,
                         .seed = options_.seed,
                         .threads = 1},
                        {.runtime = nullptr, .devices = {kHostConsumer}});
    const uint64_t steps = feeder.steps_per_epoch() / parts_;
    const LearningRate rate{.peak = options_.optimizer.rate,
                            .steps = static_cast<int64_t>(steps * options_.epochs)};
    std::vector<double> losses;
    for (uint64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      for (uint64_t i = 0; i < steps; ++i) {
        const auto made = static_cast<int64_t>(losses.size());
        losses.push_back(Step(feeder, {.rate = rate.At(made), .number = made + 1}));
      }
      while (feeder.Next()) continue;  // they make no whole step
    }
    return losses;
  }

 private:
  double Step(DeviceFeeder& feeder, const UpdateStep& step) {
    Variables& variables = model_->variables();
    const float scale = 1.0F / static_cast<float>(options_.batch_size * parts_);
    std::vector<float> whole(variables.trained_size());
    float loss = 0, samples = 0;
    for (size_t part = 0; part < parts_; ++part) {
      const auto batch = feeder.Next();
      const BatchPlaces arrays(*batch);
      model_->Forward(arrays, nullptr, true, scale, sums_);
      model_->Backward(arrays, [](size_t) {});
      const auto gradients = device_.Floats(variables.gradients(), whole.size());
      for (size_t i = 0; i < whole.size(); ++i) whole[i] += gradients[i];
      loss += sums_->loss;
      samples += sums_->samples;
    }
    ops_->Upload(variables.gradients(), whole.data(), whole.size() * sizeof(float));
    for (size_t i = 0; i < variables.specs().size(); ++i) {
      if (!variables.specs()[i].trained) continue;
      UpdateVariable(*ops_, variables, options_.optimizer, step, i);
    }
    return static_cast<double>(loss) / static_cast<double>(samples);
  }

  const TrainerOptions options_;
  const size_t parts_;
  const std::unique_ptr<Ops> ops_;
  OnDevice device_;
  LossSums* const sums_;  // on a CPU device, so the host can read them
  std::unique_ptr<Model> model_;
};

class Strategies : public testing::TestWithParam<StrategyKind> {};

TEST_P(Strategies, GiveTheLossesOfOneDeviceWithGhostBatchesBitForBit) {
  const SmallCifar data(72);  // one of 9 batches is left over with 2 or 4 devices
  std::string devices;
  for (size_t count = 1; count <= 4; ++count) {
    devices += format("{}cpu:{}", devices.empty() ? "" : ",", count - 1);
    if (count == 3) continue;
    SCOPED_TRACE(devices);
    TrainerOptions options = SteadyPictures(data, devices);
    options.strategy = GetParam();
    const auto losses = Train(options).losses;
    ASSERT_EQ(losses.size(), 2 * (9 / count));
    EXPECT_EQ(losses, GhostBatches(options, count).Losses());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Strategies,
                         testing::Values(StrategyKind::kReplicated, StrategyKind::kParameterServer,
                                         StrategyKind::kDistributedReplicated));

}  // namespace
}  // namespace recpack::train
