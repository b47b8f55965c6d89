#include "src/train/layers/variables.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "recpack/base/random.h"
#include "src/train/ops/memory_purpose.h"

namespace recpack::train {
namespace {

constexpr uint32_t kInitialStream = 0x696e6974;  // "init"
constexpr size_t kAlignedElements = 64;          // 256 bytes

// Normal distribution: Box and Muller, 1958.
float NextNormal(KeyedRandom& random) {
  const double u = 1.0 - random.NextUnit(), v = random.NextUnit();
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
}

std::vector<float> InitialValues(const VariableSpec& spec, uint64_t seed, size_t number) {
  std::vector<float> values =
      HostFloats(static_cast<size_t>(Elements(spec.shape)), "the first values of " + spec.name);
  KeyedRandom random(seed, kInitialStream, number);
  const auto fan_in = static_cast<float>(spec.fan_in);
  for (float& value : values) {
    switch (spec.initial) {
      case Initial::kZeros:
        break;
      case Initial::kOnes:
        value = 1;
        break;
      case Initial::kHeNormal:
        value = NextNormal(random) * std::sqrt(2 / fan_in);
        break;
      case Initial::kUniform:
        value = (2 * random.NextUnit() - 1) / std::sqrt(fan_in);
        break;
      case Initial::kConstant:
        value = spec.value;
        break;
      case Initial::kNormal:
        value = NextNormal(random) * spec.value;
        break;
    }
  }
  return values;
}

}  // namespace

size_t Variables::Add(VariableSpec spec) {
  specs_.push_back(std::move(spec));
  return specs_.size() - 1;
}

void Variables::Allocate(Ops& ops, int slots, uint64_t seed) {
  own_queue_ = std::make_unique<DeviceQueue>(ops, DeviceQueue::Done::kAtOnce);
  Allocate([&](const VariableSpec&) -> DeviceQueue& { return *own_queue_; }, slots, seed);
}

void Variables::Allocate(const QueueOf& queue_of, int slots, uint64_t seed) {
  for (size_t i = 0; i < specs_.size(); ++i) {
    part_of_.push_back(PartNumber(queue_of(specs_[i])));
    Part& part = parts_[part_of_[i]];
    size_t& end = specs_[i].trained ? part.trained_size : part.statistics_size;
    offsets_.push_back(end);
    end += (size(i) + kAlignedElements - 1) / kAlignedElements * kAlignedElements;
  }
  for (Part& part : parts_) {
    part.queue->Do([&part, slots] {
      const auto allocate = [&ops = part.queue->ops()](size_t count, const char* what) {
        return WithMemoryFor(what, [&] { return ops.Allocate(count * sizeof(float)); });
      };
      part.trained = allocate(part.trained_size, "the variables");
      part.gradients = allocate(part.trained_size, "the variables' gradients");
      part.statistics = allocate(part.statistics_size, "the statistics");
      for (int i = 0; i < slots; ++i) {
        part.slots.push_back(allocate(part.trained_size, "what the optimizer keeps"));
      }
    });
  }
  for (size_t i = 0; i < specs_.size(); ++i) {
    queue(i).Do([this, seed, i] {
      std::vector<float> values = InitialValues(specs_[i], seed, i);
      if (specs_[i].change) specs_[i].change(values);
      queue(i).ops().Upload(At(i), values.data(), values.size() * sizeof(float));
    });
  }
  for (const Part& part : parts_) part.queue->Join();
}

size_t Variables::PartNumber(DeviceQueue& queue) {
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const Part& part) { return part.queue == &queue; });
  if (found != parts_.end()) return static_cast<size_t>(found - parts_.begin());
  parts_.push_back({.queue = &queue});
  return parts_.size() - 1;
}

float* Variables::At(size_t variable) const {
  const Part& part = parts_[part_of_[variable]];
  const DeviceArray& array = specs_[variable].trained ? part.trained : part.statistics;
  return array.As<float>() + offsets_[variable];
}

float* Variables::Gradient(size_t variable) const {
  return parts_[part_of_[variable]].gradients.As<float>() + offsets_[variable];
}

float* Variables::Slot(int slot, size_t variable) const {
  const Part& part = parts_[part_of_[variable]];
  return part.slots[static_cast<size_t>(slot)].As<float>() + offsets_[variable];
}

size_t Variables::size(size_t variable) const {
  return static_cast<size_t>(Elements(specs_[variable].shape));
}

}  // namespace recpack::train
