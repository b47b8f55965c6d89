// How the devices of a training come to the same variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/train/ops/variables.h"

namespace recpack::train {

enum class OptimizerKind : uint8_t {
  kSgd,   // gradient descent with momentum: SgdUpdate
  kAdam,  // AdamUpdate
};

struct OptimizerOptions {
  std::optional<OptimizerKind> kind = {};  // empty: the model's, kSgd where there is no model
  double rate = 0;                         // at its peak; 0: the model's (docs/training.md)
  double momentum = 0.9;                   // of Adam its first beta
  double decay = -1;  // of weights, not of normalisation and biases; below 0: the model's
};

// Of one update of all variables.
struct UpdateStep {
  double rate = 0;     // the learning rate
  int64_t number = 1;  // over the whole training, counted from 1
  // In the device's memory, in place of both; see SgdUpdate::rates.
  const UpdateRates* rates = nullptr;
};

// What exchanging variables cost a device.
struct ExchangeAccount {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // copied or summed
  double waited = 0;   // seconds that the device's own work stood still for it
};

// One object a device, used by its thread. A step is BeginStep(), the forward pass with Need()
// before a variable is read, BeginBackward(), the backward pass with Ready() when a gradient is
// whole, Ops::Rejoin(), EndStep().
class VariableStrategy {
 public:
  virtual ~VariableStrategy() = default;

  // Slots of the optimizer that the device itself holds.
  virtual int slots() const = 0;
  // Whether Ops::Capture() may take what is between BeginStep() and EndStep(), to be replayed
  // between further calls of both: it enqueues the same work in each step, on the device alone.
  virtual bool Repeats() const { return false; }
  // Before the first step: all devices get the variables of the first.
  virtual void Start(Ops& ops, Variables& variables) = 0;
  // How many steps BeginSteps() takes. Those are then computed one behind the other, and ended by
  // one EndStep().
  virtual size_t StepsAtOnce() const { return 1; }
  virtual void BeginStep(const UpdateStep& step) = 0;
  virtual void BeginSteps(std::span<const UpdateStep> steps) { BeginStep(steps.front()); }
  virtual void Need(size_t variable) = 0;
  // Of step number `step` of those begun. Ready() comes for all trained variables, or came in part:
  // work whose capture was refused.
  virtual void BeginBackward(size_t /*step*/) {}
  virtual void Ready(size_t variable) = 0;
  virtual void EndStep() = 0;
  // Variables and statistics are up to date and the same on all devices, to be evaluated or stored.
  virtual void Settle() = 0;
  // A slot of the optimizer, of Settle()'s moment or before the first step: copied to and from the
  // host's memory. Of devices that share it, each is told the same.
  virtual void ReadSlot(size_t slot, size_t variable, float* to) = 0;
  virtual void WriteSlot(size_t slot, size_t variable, const float* from) = 0;
  // The device's own variables were set, the same on all devices, before the first step.
  virtual void VariablesSet() = 0;
  // Throws what an exchange of the steps so far failed by: what was computed with it is nothing.
  virtual void Check() {}
  // There are no more steps, whether the training ended or failed. What devices end together, they
  // end here.
  virtual void End() noexcept {}
  // Another device failed: nothing waits for it any more.
  virtual void Abort(const std::string& reason) noexcept = 0;

  const ExchangeAccount& account() const noexcept { return account_; }

 protected:
  ExchangeAccount account_;
};

}  // namespace recpack::train
