// Base of the strategies whose devices hold all variables.
#pragma once

#include <span>
#include <vector>

#include "src/train/layers/optimizer.h"

namespace recpack::train {

class OwnVariables : public VariableStrategy {
 public:
  int slots() const override { return static_cast<int>(SlotNames(options_).size()); }
  void Start(Ops&, Variables& variables) override { variables_ = &variables; }
  void ReadSlot(size_t slot, size_t variable, float* to) override {
    DeviceQueue& queue = variables_->queue(variable);
    queue.DoAndJoin([&] {
      queue.ops().Download(to, variables_->Slot(static_cast<int>(slot), variable),
                           variables_->size(variable) * sizeof(float));
    });
  }
  void WriteSlot(size_t slot, size_t variable, const float* from) override {
    DeviceQueue& queue = variables_->queue(variable);
    queue.DoAndJoin([&] {
      queue.ops().Upload(variables_->Slot(static_cast<int>(slot), variable), from,
                         variables_->size(variable) * sizeof(float));
    });
  }
  void VariablesSet() override {}

 protected:
  explicit OwnVariables(const OptimizerOptions& options) : options_(options) {}

  // Updates each variable on its device.
  void UpdateAll() {
    const size_t count = variables_->specs().size();
    for (size_t i = 0; i < count; ++i) {
      if (!variables_->specs()[i].trained) continue;
      DeviceQueue& queue = variables_->queue(i);
      queue.Do([this, &queue, i] { UpdateVariable(queue.ops(), *variables_, options_, step_, i); });
    }
    for (size_t i = 0; i < count; ++i) variables_->queue(i).Join();
  }

  // From now on the rates of `steps` steps are in the memory of `ops`, so that each update enqueues
  // the same work.
  void KeepRates(Ops& ops, size_t steps = 1) {
    ops_ = &ops;
    rates_ = ops.Allocate(steps * sizeof(UpdateRates));
  }
  void SetSteps(std::span<const UpdateStep> steps) {
    step_ = steps.front();
    if (ops_ == nullptr) return;
    std::vector<UpdateRates> rates;
    rates.reserve(steps.size());
    for (const UpdateStep& step : steps) rates.push_back(ToRates(options_, step));
    ops_->Upload(rates_.data(), rates.data(), rates.size() * sizeof(UpdateRates));
    TakeStep(0);
  }
  // Selects step number `step` of those that were set, for the updates that follow.
  void TakeStep(size_t step) {
    if (ops_ != nullptr) step_.rates = rates_.As<UpdateRates>() + step;
  }

  const OptimizerOptions options_;
  Variables* variables_ = nullptr;
  UpdateStep step_;

 private:
  Ops* ops_ = nullptr;  // owner of the rates; null: none
  DeviceArray rates_;
};

}  // namespace recpack::train
