// The variables of a training on one device.
#pragma once

#include "src/train/own_variables.h"

namespace recpack {

// Each variable is updated where it is.
class SingleDevice final : public OwnVariables {
 public:
  enum class Update : uint8_t {
    kAfterStep,
    // While the backward pass goes on, by rates in the device's memory: a step is then the same
    // work each time. Of models that are on one device.
    kBeside,
  };

  explicit SingleDevice(const OptimizerOptions& options, Update update = Update::kAfterStep)
      : OwnVariables(options), update_(update) {}

  bool Repeats() const override { return update_ == Update::kBeside; }
  void Start(Ops& ops, Variables& variables) override {
    OwnVariables::Start(ops, variables);
    ops_ = &ops;
    if (Repeats()) rates_ = ops.Allocate(sizeof(UpdateRates));
  }
  void BeginStep(const UpdateStep& step) override {
    step_ = step;
    if (!Repeats()) return;
    const UpdateRates rates = RatesOf(options_, step);
    ops_->Upload(rates_.data(), &rates, sizeof rates);
    step_.rates = rates_.As<UpdateRates>();
  }
  void Need(size_t) override {}
  void Ready(size_t variable) override {
    if (!Repeats()) return;
    ops_->Beside([&] { UpdateVariable(*ops_, *variables_, options_, step_, variable); });
  }
  void EndStep() override { Repeats() ? ops_->Rejoin() : UpdateAll(); }
  void Settle() override {}
  void Abort(const std::string&) noexcept override {}

 private:
  const Update update_;
  Ops* ops_ = nullptr;
  DeviceArray rates_;
};

}  // namespace recpack
