// What a model learns, and what it keeps besides.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/train/ops/device_queue.h"

namespace recpack::train {

enum class Initial : uint8_t {
  kZeros,
  kOnes,
  kHeNormal,  // normal, of standard deviation sqrt(2 / fan in): He et al., "Delving deep into
              // rectifiers", 2015, for ReLU
  kUniform,   // in +- 1 / sqrt(fan in): PyTorch's for dense layers and biases
  kConstant,  // VariableSpec::value
  kNormal,    // normal, of standard deviation VariableSpec::value
};

struct VariableSpec {
  std::string name;  // as PyTorch's state_dict() of the same network has it
  Shape shape;
  Initial initial = Initial::kZeros;
  int64_t fan_in = 1;
  bool trained = true;  // off: a statistic, which the optimizer leaves alone
  bool decayed = true;  // by weight decay
  float value = 0;      // of kConstant and kNormal
};

// The variables of one model. On each device that has some of them: all trained ones in one array,
// their gradients in another in the same order, statistics in a third. f32.
class Variables {
 public:
  // While the model is put together. Returns the number that At() and Gradient() take.
  size_t Add(VariableSpec spec);

  // Memory, and initial values: a function of the seed and the variable's number alone. `slots`:
  // arrays besides, as large as the trained ones, for the optimizer.
  void Allocate(Ops& ops, int slots, uint64_t seed);
  // As many devices as `queue_of` names. The queues are joined, and have to stay while variables
  // are used through queue().
  using QueueOf = std::function<DeviceQueue&(const VariableSpec& spec)>;
  void Allocate(const QueueOf& queue_of, int slots, uint64_t seed);

  const std::vector<VariableSpec>& specs() const noexcept { return specs_; }
  float* At(size_t variable) const;
  float* Gradient(size_t variable) const;  // of trained ones
  float* Slot(int slot, size_t variable) const;
  // Of the device that it lies on; one that works at once where all lie on one.
  DeviceQueue& queue(size_t variable) const { return *parts_[part_of_[variable]].queue; }

  // Where a variable begins in its array, and how long it is, in elements.
  size_t offset(size_t variable) const { return offsets_[variable]; }
  size_t size(size_t variable) const;

  // Whole arrays, of the first device: all there is where all lie on one.
  size_t trained_size() const { return parts_.at(0).trained_size; }  // elements
  float* trained() const { return parts_.at(0).trained.As<float>(); }
  float* gradients() const { return parts_.at(0).gradients.As<float>(); }
  size_t statistics_size() const { return parts_.at(0).statistics_size; }
  float* statistics() const { return parts_.at(0).statistics.As<float>(); }

 private:
  // What lies on one device.
  struct Part {
    DeviceQueue* queue = nullptr;
    size_t trained_size = 0, statistics_size = 0;
    DeviceArray trained, gradients, statistics;
    std::vector<DeviceArray> slots;
  };
  size_t PartOf(DeviceQueue& queue);

  std::vector<VariableSpec> specs_;
  std::unique_ptr<DeviceQueue> own_queue_;
  std::vector<Part> parts_;
  std::vector<size_t> part_of_, offsets_;  // by variable
};

}  // namespace recpack::train
