// One model of a training: its devices, and the steps it takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "src/train/models/model.h"
#include "src/train/ops/placement.h"
#include "src/train/ops/repeated_work.h"
#include "src/train/ops/strategy.h"

namespace recpack::train {

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
  void RepeatSteps(RepeatedWork::Refused refused);

  // Enqueues steps, VariableStrategy::StepsAtOnce() or one, and copies of their sums to `sums`, in
  // bytes from `offset` on. The batches may go once this returned.
  struct Step {
    DeviceBatch* batch = nullptr;
    UpdateStep update;
  };
  void Train(std::span<const Step> steps, Readback& sums, size_t offset);
  // Of the first device.
  std::unique_ptr<Readback> MakeReadback(size_t bytes);
  LossSums Evaluate(DeviceBatch& batch);

  const std::vector<std::unique_ptr<Ops>>& devices() const noexcept { return ops_; }
  // Of a model over several devices, each of which tells a watcher of its own work.
  bool devices_tell() const noexcept { return placement_ && placement_->devices_tell(); }
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
  // `step`: of those that were begun.
  void Compute(const BatchArrays& batch, size_t step);
  // By the thread that the first device is attached to.
  void OnFirst(const std::function<void()>& work);

  std::vector<std::unique_ptr<Ops>> ops_;
  std::unique_ptr<Placement> placement_;  // of several devices
  const float scale_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<VariableStrategy> strategy_;      // its threads read what is the model's
  DeviceArray sums_, mask_;                         // sums of each step of those at once
  std::optional<RepeatedWork> repeated_, several_;  // of a step, and of those at once
};

}  // namespace recpack::train
