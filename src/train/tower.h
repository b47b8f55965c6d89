// One device of a training: its model, and the steps it takes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "recpack/train/model.h"
#include "recpack/train/strategy.h"

namespace recpack {

// Used by one thread, that of Attach().
class Tower {
 public:
  // `scale`: of the loss of a sample in the gradient, so that the step's gradient is the mean over
  // all devices' samples.
  Tower(std::unique_ptr<Ops> ops, std::unique_ptr<VariableStrategy> strategy, float scale);

  // Makes the model, by `make` of the tower's Ops, and gets its memory.
  using MakeModel = std::function<std::unique_ptr<Model>(Ops& ops)>;
  void Build(const MakeModel& make, uint64_t seed);

  // One step. The batch may go once this returned.
  LossSums Train(DeviceBatch& batch, double rate);
  LossSums Evaluate(DeviceBatch& batch);

  Ops& ops() noexcept { return *ops_; }
  Model& model() noexcept { return *model_; }
  VariableStrategy& strategy() noexcept { return *strategy_; }

  // The first layer with a number that is not finite, or empty.
  std::string FirstBadLayer();

  // Statistics, which are no part of the exchange.
  std::vector<float> Statistics();
  void SetStatistics(const std::vector<float>& values);

 private:
  LossSums Read();

  std::unique_ptr<Ops> ops_;
  std::unique_ptr<VariableStrategy> strategy_;
  const float scale_;
  std::unique_ptr<Model> model_;
  DeviceArray sums_, mask_;
};

}  // namespace recpack
