// What a model learns, and what it keeps besides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/train/ops.h"

namespace recpack {

enum class Initial : uint8_t {
  kZeros,
  kOnes,
  kHeNormal,   // normal, of standard deviation sqrt(2 / fan in): He et al., "Delving deep into
               // rectifiers", 2015, for ReLU
  kUniform,    // in +- 1 / sqrt(fan in): PyTorch's for dense layers and biases
  kEmbedding,  // normal, of standard deviation 0.1
};

struct VariableSpec {
  std::string name;  // as PyTorch's state_dict() of the same network has it
  Shape shape;
  Initial initial = Initial::kZeros;
  int64_t fan_in = 1;
  bool trained = true;  // off: a statistic, which the optimizer leaves alone
  bool decayed = true;  // by weight decay
};

// The variables of one model on one device: all trained ones in one array, their gradients in
// another in the same order, statistics in a third. f32.
class Variables {
 public:
  // While the model is put together. Returns the number that At() and Gradient() take.
  size_t Add(VariableSpec spec);

  // Memory, and initial values: a function of the seed and the variable's number alone. `slots`:
  // arrays besides, as large as the trained ones, for the optimizer.
  void Allocate(Ops& ops, int slots, uint64_t seed);

  const std::vector<VariableSpec>& specs() const noexcept { return specs_; }
  float* At(size_t variable) const;
  float* Gradient(size_t variable) const;  // of trained ones
  float* Slot(int slot, size_t variable) const;

  // Where a variable begins in its array, and how long it is, in elements.
  size_t offset(size_t variable) const { return offsets_[variable]; }
  size_t size(size_t variable) const;

  size_t trained_size() const noexcept { return trained_size_; }  // elements
  float* trained() const { return trained_.As<float>(); }
  float* gradients() const { return gradients_.As<float>(); }
  size_t statistics_size() const noexcept { return statistics_size_; }
  float* statistics() const { return statistics_.As<float>(); }

 private:
  std::vector<VariableSpec> specs_;
  std::vector<size_t> offsets_;
  size_t trained_size_ = 0, statistics_size_ = 0;
  DeviceArray trained_, gradients_, statistics_;
  std::vector<DeviceArray> slots_;
};

}  // namespace recpack
