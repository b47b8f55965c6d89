// One model of a training: its devices, and the steps it takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "recpack/train/model.h"
#include "recpack/train/placement.h"
#include "recpack/train/strategy.h"
#include "src/train/repeated_step.h"

namespace recpack {

// Used by one thread, that of Build().
class Tower {
 public:
  // `ops`: of its devices; batches are on the first. `scale`: of the loss of a sample in the
  // gradient, so that the step's gradient is the mean over all towers' samples.
  Tower(std::vector<std::unique_ptr<Ops>> ops, std::unique_ptr<VariableStrategy> strategy,
        float scale);

  // For a model over several devices: before Build().
  void Place(const ModelGraph& graph, const DeviceOfOperation& device_of);

  // Makes the model, by `make` of the tower's first Ops and its placement (null: all is there), and
  // gets its memory.
  using MakeModel = std::function<std::unique_ptr<Model>(Ops& ops, Placement* placement)>;
  void Build(const MakeModel& make, uint64_t seed);

  // Steps are captured and repeated where the strategy's are: before the first one.
  void RepeatSteps(RepeatedStep::Refused refused);

  // Enqueues a step. The batch may go once this returned.
  void Train(DeviceBatch& batch, const UpdateStep& step);
  // Of the first device; the sums of the last step, before the next step or evaluation.
  std::unique_ptr<Readback> MakeReadback(size_t bytes);
  void ReadSums(Readback& readback, size_t offset);
  LossSums Evaluate(DeviceBatch& batch);

  const std::vector<std::unique_ptr<Ops>>& devices() const noexcept { return ops_; }
  Model& model() noexcept { return *model_; }
  VariableStrategy& strategy() noexcept { return *strategy_; }

  // Between its devices, since the last call.
  TransferAccount TakeTransfers();

  // The first layer with a number that is not finite, or empty.
  std::string FirstBadLayer();

  // Statistics, which are no part of the exchange.
  std::vector<float> Statistics();
  void SetStatistics(const std::vector<float>& values);

 private:
  Ops& ops() noexcept { return *ops_[0]; }
  void Compute(const BatchArrays& batch);
  // By the thread that the first device is attached to.
  void OnFirst(const std::function<void()>& work);

  std::vector<std::unique_ptr<Ops>> ops_;
  std::unique_ptr<Placement> placement_;  // of several devices
  std::unique_ptr<VariableStrategy> strategy_;
  const float scale_;
  std::unique_ptr<Model> model_;
  DeviceArray sums_, mask_;
  std::optional<RepeatedStep> repeated_;
};

}  // namespace recpack
