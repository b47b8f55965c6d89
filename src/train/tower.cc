#include "src/train/tower.h"

#include <cmath>
#include <utility>

namespace recpack {
namespace {

class ArraysOf final : public BatchArrays {
 public:
  explicit ArraysOf(const DeviceBatch& batch) : batch_(batch) {}
  const void* Raw(const std::string& name) const override { return batch_.Raw(name); }

 private:
  const DeviceBatch& batch_;
};

}  // namespace

Tower::Tower(std::unique_ptr<Ops> ops, std::unique_ptr<VariableStrategy> strategy, float scale)
    : ops_(std::move(ops)), strategy_(std::move(strategy)), scale_(scale) {}

void Tower::Build(const MakeModel& make, uint64_t seed) {
  ops_->Attach();
  model_ = make(*ops_);
  model_->WaitBefore([this](size_t variable) { strategy_->Need(variable); });
  model_->Build(strategy_->slots(), seed);
  sums_ = ops_->Allocate(sizeof(LossSums));
  mask_ = ops_->Allocate(static_cast<size_t>(model_->context().batch));
  strategy_->Start(*ops_, model_->variables());
}

LossSums Tower::Train(DeviceBatch& batch, double rate) {
  batch.OnStream(ops_->Stream());
  const ArraysOf arrays(batch);
  strategy_->BeginStep(rate);
  model_->Forward(arrays, nullptr, true, scale_, sums_.As<LossSums>());
  model_->Backward(arrays, [this](size_t variable) { strategy_->Ready(variable); });
  strategy_->EndStep();
  return Read();
}

LossSums Tower::Evaluate(DeviceBatch& batch) {
  batch.OnStream(ops_->Stream());
  const ArraysOf arrays(batch);
  ops_->Upload(mask_.data(), batch.mask().data(), batch.mask().size());
  model_->Forward(arrays, mask_.As<uint8_t>(), false, 0, sums_.As<LossSums>());
  return Read();
}

LossSums Tower::Read() {
  LossSums sums;
  ops_->Download(&sums, sums_.data(), sizeof sums);
  return sums;
}

std::vector<float> Tower::Statistics() {
  const Variables& variables = model_->variables();
  std::vector<float> values(variables.statistics_size());
  ops_->Download(values.data(), variables.statistics(), values.size() * sizeof(float));
  return values;
}

void Tower::SetStatistics(const std::vector<float>& values) {
  ops_->Upload(model_->variables().statistics(), values.data(), values.size() * sizeof(float));
}

std::string Tower::FirstBadLayer() {
  for (const auto& [name, tensor] : model_->Activity()) {
    const Tensor flat{tensor.data, tensor.type, {tensor.elements()}};
    const DeviceArray copy = ops_->Allocate(static_cast<size_t>(tensor.elements()) * sizeof(float));
    ops_->Convert(flat, {copy.data(), ValueType::kF32, flat.shape});
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    ops_->Download(values.data(), copy.data(), values.size() * sizeof(float));
    for (const float value : values) {
      if (!std::isfinite(value)) return name;
    }
  }
  return {};
}

}  // namespace recpack
