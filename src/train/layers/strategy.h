// Interface of strategies that keep the variables of several devices in step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/train/layers/variables.h"

namespace recpack::train {

enum class OptimizerKind : uint8_t {
  kSgd,   // SgdUpdate: gradient descent with momentum
  kAdam,  // AdamUpdate
};

struct OptimizerOptions {
  std::optional<OptimizerKind> kind = {};  // unset: the model's default; kSgd without a model
  // peak learning rate; 0: the model's default (docs/reference/training.md)
  double rate = 0;
  double momentum = 0.9;  // Adam: the first beta
  // weight decay, except of normalisation and biases; below 0: the model's default
  double decay = -1;
};

// Parameters of one update of all variables.
struct UpdateStep {
  double rate = 0;     // learning rate
  int64_t number = 1;  // counted from 1 over the whole training
  // In device memory; replaces both. See SgdUpdate::rates.
  const UpdateRates* rates = nullptr;
};

// Cost of exchanging variables, per device.
struct ExchangeAccount {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // copied or summed
  double waited = 0;   // seconds that the device's own work stood still for exchanges
};

// One object per device, used on the device's thread. A step is BeginStep(); the forward pass, with
// Need() before a variable is read; BeginBackward(); the backward pass, with Ready() when a
// gradient is complete; Ops::Rejoin(); EndStep().
class VariableStrategy {
 public:
  virtual ~VariableStrategy() = default;

  // Number of optimizer slots that the device itself holds.
  virtual int slots() const = 0;
  // Tells whether Ops::Capture() may capture the work between BeginStep() and EndStep() and replay
  // it between later calls of both: each step enqueues the same work, on this device only.
  virtual bool Repeats() const { return false; }
  // Called before the first step: copies the first device's variables to all devices.
  virtual void Start(Ops& ops, Variables& variables) = 0;
  // Number of steps that BeginSteps() takes. They run one after the other and end with one
  // EndStep().
  virtual size_t StepsAtOnce() const { return 1; }
  virtual void BeginStep(const UpdateStep& step) = 0;
  virtual void BeginSteps(std::span<const UpdateStep> steps) { BeginStep(steps.front()); }
  virtual void Need(size_t variable) = 0;
  // `step`: index among the steps begun. Ready() follows for all trained variables, possibly after
  // a partial pass whose capture was refused.
  virtual void BeginBackward(size_t /*step*/) {}
  virtual void Ready(size_t variable) = 0;
  virtual void EndStep() = 0;
  // Makes variables and statistics current and equal on all devices, for evaluation and
  // checkpoints.
  virtual void Settle() = 0;
  // Copies an optimizer slot to or from host memory, after Settle() or before the first step.
  // Devices that share a slot are all given the same values.
  virtual void ReadSlot(size_t slot, size_t variable, float* to) = 0;
  virtual void WriteSlot(size_t slot, size_t variable, const float* from) = 0;
  // Called before the first step, after the device's variables were set, equally on all devices.
  virtual void VariablesSet() = 0;
  // Throws the error of a failed exchange in the steps so far; their results are then invalid.
  virtual void Check() {}
  // No more steps follow, whether training ended or failed. Devices release what they share here.
  virtual void End() noexcept {}
  // Another device failed: no call waits for it any more.
  virtual void Abort(const std::string& reason) noexcept = 0;

  const ExchangeAccount& account() const noexcept { return account_; }

 protected:
  ExchangeAccount account_;
};

}  // namespace recpack::train
