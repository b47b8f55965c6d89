// One model replica of a training: its devices and its steps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "src/train/layers/placement.h"
#include "src/train/layers/strategy.h"
#include "src/train/models/model.h"
#include "src/train/ops/repeated_work.h"

namespace recpack::train {

// Addresses of a batch's arrays, by field name. Remains valid after the batch object is destroyed.
class BatchPlaces final : public BatchArrays {
 public:
  explicit BatchPlaces(const DeviceBatch& batch);
  const void* Raw(const std::string& name) const override;

  // In the order of the batch.
  const std::vector<const void*>& all() const noexcept { return all_; }

 private:
  std::vector<const void*> all_;
  std::map<std::string, const void*> by_name_;
};

// Used by one thread, the one that called Build().
class Tower {
 public:
  // `ops`: of its devices; batches are on the first. `scale`: factor of a sample's loss in the
  // gradient, chosen so that the summed gradient is the mean over all towers' samples.
  Tower(std::vector<std::unique_ptr<Ops>> ops, std::unique_ptr<VariableStrategy> strategy,
        float scale);

  // For a model over several devices; call before Build().
  void Place(const ModelGraph& graph, const DeviceOfOperation& device_of);

  // Makes the model and allocates its memory. `make` gets the tower's first Ops, and its placement
  // (null: everything is on the first device).
  using MakeModel = std::function<std::unique_ptr<Model>(Ops& ops, Placement* placement)>;
  void Build(const MakeModel& make, uint64_t seed);

  // Captures steps and replays them, if the strategy allows it. Call before the first step.
  void RepeatSteps(RepeatedWork::Refused refused);

  // Enqueues steps, one or VariableStrategy::StepsAtOnce(), and copies of their sums to `sums` from
  // `offset` [bytes] on. The batches may be released once it returns.
  struct Step {
    DeviceBatch* batch = nullptr;
    UpdateStep update;
  };
  void Train(std::span<const Step> steps, Readback& sums, size_t offset);
  // On the first device.
  std::unique_ptr<Readback> MakeReadback(size_t bytes);
  LossSums Evaluate(DeviceBatch& batch);

  const std::vector<std::unique_ptr<Ops>>& devices() const noexcept { return ops_; }
  // True for a model over several devices that each report their own work.
  bool devices_tell() const noexcept { return placement_ && placement_->devices_tell(); }
  Model& model() noexcept { return *model_; }
  VariableStrategy& strategy() noexcept { return *strategy_; }

  // Transfers between its devices since the last call.
  TransferAccount TakeTransfers();

  // Name of the first layer with NaN or infinity, or empty.
  std::string FirstBadLayer();

  // Statistics are not part of the gradient exchange. Empty for a model over several devices, which
  // is the only one.
  std::vector<float> Statistics();
  void SetStatistics(const std::vector<float>& values);

 private:
  Ops& ops() noexcept { return *ops_[0]; }
  // `step`: index among the steps begun.
  void Compute(const BatchArrays& batch, size_t step);
  // Runs work on the thread that the first device is attached to.
  void OnFirst(const std::function<void()>& work);

  std::vector<std::unique_ptr<Ops>> ops_;
  std::unique_ptr<Placement> placement_;  // set for several devices
  const float scale_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<VariableStrategy> strategy_;      // after model_, whose memory its threads read
  DeviceArray sums_, mask_;                         // sums_: one for each of the steps at once
  std::optional<RepeatedWork> repeated_, several_;  // of one step, and of the steps at once
};

}  // namespace recpack::train
