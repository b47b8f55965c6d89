// The variables of a training on one device.
#pragma once

#include "src/train/own_variables.h"

namespace recpack {

// Each variable is updated where it is, after the step.
class SingleDevice final : public OwnVariables {
 public:
  explicit SingleDevice(const OptimizerOptions& options) : OwnVariables(options) {}
  void BeginStep(const UpdateStep& step) override { step_ = step; }
  void Need(size_t) override {}
  void Ready(size_t) override {}
  void EndStep() override { UpdateAll(); }
  void Settle() override {}
  void Abort(const std::string&) noexcept override {}
};

}  // namespace recpack
