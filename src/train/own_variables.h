// What strategies share whose devices hold all variables.
#pragma once

#include "src/train/optimizer.h"

namespace recpack {

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

  // Each on its device.
  void UpdateAll() {
    const size_t count = variables_->specs().size();
    for (size_t i = 0; i < count; ++i) {
      if (!variables_->specs()[i].trained) continue;
      DeviceQueue& queue = variables_->queue(i);
      queue.Do([this, &queue, i] { UpdateVariable(queue.ops(), *variables_, options_, step_, i); });
    }
    for (size_t i = 0; i < count; ++i) variables_->queue(i).Join();
  }

  const OptimizerOptions options_;
  Variables* variables_ = nullptr;
  UpdateStep step_;
};

}  // namespace recpack
