// How the devices of a training come to the same variables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recpack/train/variables.h"

namespace recpack {

struct OptimizerOptions {
  double rate = 0.1;  // at its peak
  double momentum = 0.9;
  double decay = 5e-4;  // of weights, not of normalisation and biases
};

// One object a device, used by its thread. A step is BeginStep(), the forward pass, Ready() for
// each variable during the backward pass, EndStep().
class VariableStrategy {
 public:
  virtual ~VariableStrategy() = default;

  // Slots of the optimizer that the device itself holds.
  virtual int slots() const = 0;
  // Before the first step: all devices get the variables of the first.
  virtual void Start(Ops& ops, Variables& variables) = 0;
  // The variables are those of the step from here on.
  virtual void BeginStep() = 0;
  virtual void Ready(size_t variable) = 0;
  // `rate`: the learning rate of this step.
  virtual void EndStep(double rate) = 0;
  // The variables are up to date, to be looked at or stored.
  virtual void Settle() = 0;
};

}  // namespace recpack
