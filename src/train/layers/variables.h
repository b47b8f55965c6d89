// Variables of a model: trained parameters and statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/train/ops/device_queue.h"

namespace recpack::train {

enum class Initial : uint8_t {
  kZeros,
  kOnes,
  // normal, standard deviation sqrt(2 / fan in), for ReLU: He et al., "Delving deep into
  // rectifiers", 2015
  kHeNormal,
  kUniform,   // uniform within +- 1 / sqrt(fan in), as PyTorch initialises dense layers and biases
  kConstant,  // VariableSpec::value
  kNormal,    // normal, standard deviation VariableSpec::value
};

struct VariableSpec {
  std::string name;  // as in PyTorch's state_dict() of the same network
  Shape shape;
  Initial initial = Initial::kZeros;
  int64_t fan_in = 1;
  bool trained = true;  // off: a statistic, which the optimizer does not update
  bool decayed = true;  // subject to weight decay
  float value = 0;      // for kConstant and kNormal
  // Changes the initial values in host memory, before they are copied to the device; empty: they
  // stay as they are. Called by Allocate(), on the device's thread.
  std::function<void(std::span<float> values)> change = {};
};

// The variables of one model, all f32. Each device that holds some of them has one array of the
// trained variables, one of their gradients in the same order, and one of statistics.
class Variables {
 public:
  // Declares a variable while the model is constructed. Returns its number for At() and Gradient().
  size_t Add(VariableSpec spec);

  // Allocates memory and sets initial values, which depend on the seed and the variable's number
  // only. `slots`: further arrays, as large as the trained variables, for the optimizer.
  void Allocate(Ops& ops, int slots, uint64_t seed);
  // Allocates on the devices that `queue_of` returns. Joins the queues, which must stay valid while
  // variables are used through queue().
  using QueueOf = std::function<DeviceQueue&(const VariableSpec& spec)>;
  void Allocate(const QueueOf& queue_of, int slots, uint64_t seed);

  const std::vector<VariableSpec>& specs() const noexcept { return specs_; }
  float* At(size_t variable) const;
  float* Gradient(size_t variable) const;  // of trained variables
  float* Slot(int slot, size_t variable) const;
  // Queue of the variable's device; a synchronous one if all variables are on one device.
  DeviceQueue& queue(size_t variable) const { return *parts_[part_of_[variable]].queue; }

  // A variable's offset in its array, and its length [elements].
  size_t offset(size_t variable) const { return offsets_[variable]; }
  size_t size(size_t variable) const;

  // Whole arrays of the first device; complete if all variables are on one device.
  size_t trained_size() const { return parts_.at(0).trained_size; }  // elements
  float* trained() const { return parts_.at(0).trained.As<float>(); }
  float* gradients() const { return parts_.at(0).gradients.As<float>(); }
  size_t statistics_size() const { return parts_.at(0).statistics_size; }
  float* statistics() const { return parts_.at(0).statistics.As<float>(); }

 private:
  // The variables on one device.
  struct Part {
    DeviceQueue* queue = nullptr;
    size_t trained_size = 0, statistics_size = 0;
    DeviceArray trained, gradients, statistics;
    std::vector<DeviceArray> slots;
  };
  size_t PartNumber(DeviceQueue& queue);

  std::vector<VariableSpec> specs_;
  std::unique_ptr<DeviceQueue> own_queue_;
  std::vector<Part> parts_;
  std::vector<size_t> part_of_, offsets_;  // per variable
};

}  // namespace recpack::train
