#include "recpack/train/variables.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "recpack/base/random.h"

namespace recpack {
namespace {

constexpr uint32_t kInitialStream = 0x696e6974;  // "init"
constexpr size_t kAlignedElements = 64;          // 256 bytes

// Of the normal distribution: Box and Muller, 1958.
float NextNormal(KeyedRandom& random) {
  const double u = 1.0 - random.NextUnit(), v = random.NextUnit();
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
}

std::vector<float> InitialValues(const VariableSpec& spec, uint64_t seed, size_t number) {
  std::vector<float> values(static_cast<size_t>(Elements(spec.shape)));
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
      case Initial::kEmbedding:
        value = NextNormal(random) * 0.1F;
        break;
    }
  }
  return values;
}

}  // namespace

size_t Variables::Add(VariableSpec spec) {
  size_t& size = spec.trained ? trained_size_ : statistics_size_;
  offsets_.push_back(size);
  const auto elements = static_cast<size_t>(Elements(spec.shape));
  size += (elements + kAlignedElements - 1) / kAlignedElements * kAlignedElements;
  specs_.push_back(std::move(spec));
  return specs_.size() - 1;
}

void Variables::Allocate(Ops& ops, int slots, uint64_t seed) {
  trained_ = ops.Allocate(trained_size_ * sizeof(float));
  gradients_ = ops.Allocate(trained_size_ * sizeof(float));
  statistics_ = ops.Allocate(statistics_size_ * sizeof(float));
  for (int i = 0; i < slots; ++i) slots_.push_back(ops.Allocate(trained_size_ * sizeof(float)));
  for (size_t i = 0; i < specs_.size(); ++i) {
    const std::vector<float> values = InitialValues(specs_[i], seed, i);
    ops.Upload(At(i), values.data(), values.size() * sizeof(float));
  }
}

float* Variables::At(size_t variable) const {
  return (specs_[variable].trained ? trained() : statistics()) + offsets_[variable];
}

float* Variables::Gradient(size_t variable) const { return gradients() + offsets_[variable]; }

float* Variables::Slot(int slot, size_t variable) const {
  return slots_[static_cast<size_t>(slot)].As<float>() + offsets_[variable];
}

size_t Variables::size(size_t variable) const {
  return static_cast<size_t>(Elements(specs_[variable].shape));
}

}  // namespace recpack
