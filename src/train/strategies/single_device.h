// Strategy for variables on a single device, or each on one device.
#pragma once

#include "src/train/strategies/own_variables.h"

namespace recpack::train {

// Updates each variable where it is stored.
class SingleDevice final : public OwnVariables {
 public:
  enum class Update : uint8_t {
    kAfterStep,
    // During the backward pass, with rates in device memory, so that each step enqueues the same
    // work. For models on one device.
    kBeside,
  };

  // `steps_at_once`: 1, or more for kBeside.
  explicit SingleDevice(const OptimizerOptions& options, Update update = Update::kAfterStep,
                        size_t steps_at_once = 1)
      : OwnVariables(options), update_(update), steps_at_once_(steps_at_once) {}

  bool Repeats() const override { return update_ == Update::kBeside; }
  size_t StepsAtOnce() const override { return steps_at_once_; }
  void Start(Ops& ops, Variables& variables) override {
    OwnVariables::Start(ops, variables);
    ops_ = &ops;
    if (Repeats()) KeepRates(ops, steps_at_once_);
  }
  void BeginStep(const UpdateStep& step) override { SetSteps({&step, 1}); }
  void BeginSteps(std::span<const UpdateStep> steps) override { SetSteps(steps); }
  void BeginBackward(size_t step) override { TakeStep(step); }
  void Need(size_t) override {}
  void Ready(size_t variable) override {
    if (!Repeats()) return;
    ops_->Beside([&] { UpdateVariable(*ops_, *variables_, options_, step_, variable); });
  }
  void EndStep() override {
    if (!Repeats()) UpdateAll();
  }
  void Settle() override {}
  void Abort(const std::string&) noexcept override {}

 private:
  const Update update_;
  const size_t steps_at_once_;
  Ops* ops_ = nullptr;
};

}  // namespace recpack::train
