// The variables of a training on one device.
#pragma once

#include "src/train/optimizer.h"

namespace recpack {

// Each variable is updated where it is, after the step.
class SingleDevice final : public VariableStrategy {
 public:
  explicit SingleDevice(const OptimizerOptions& options) : options_(options) {}

  int slots() const override { return 1; }
  void Start(Ops& ops, Variables& variables) override {
    ops_ = &ops;
    variables_ = &variables;
  }
  void BeginStep(double rate) override { rate_ = rate; }
  void Need(size_t) override {}
  void Ready(size_t) override {}
  void EndStep() override {
    for (size_t i = 0; i < variables_->specs().size(); ++i) {
      if (variables_->specs()[i].trained) UpdateVariable(*ops_, *variables_, options_, rate_, i);
    }
  }
  void Settle() override {}
  void Abort(const std::string&) noexcept override {}

 private:
  const OptimizerOptions options_;
  double rate_ = 0;
  Ops* ops_ = nullptr;
  Variables* variables_ = nullptr;
};

}  // namespace recpack
