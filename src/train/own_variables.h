// What strategies share whose devices hold all variables.
#pragma once

#include "src/train/optimizer.h"

namespace recpack {

class OwnVariables : public VariableStrategy {
 public:
  int slots() const override { return 1; }
  void Start(Ops& ops, Variables& variables) override {
    ops_ = &ops;
    variables_ = &variables;
  }
  void ReadMomentum(size_t variable, float* to) override {
    ops_->Download(to, variables_->Slot(0, variable), variables_->size(variable) * sizeof(float));
  }
  void WriteMomentum(size_t variable, const float* from) override {
    ops_->Upload(variables_->Slot(0, variable), from, variables_->size(variable) * sizeof(float));
  }
  void VariablesSet() override {}

 protected:
  explicit OwnVariables(const OptimizerOptions& options) : options_(options) {}

  void UpdateAll() {
    for (size_t i = 0; i < variables_->specs().size(); ++i) {
      if (variables_->specs()[i].trained) UpdateVariable(*ops_, *variables_, options_, rate_, i);
    }
  }

  const OptimizerOptions options_;
  Ops* ops_ = nullptr;
  Variables* variables_ = nullptr;
  double rate_ = 0;
};

}  // namespace recpack
