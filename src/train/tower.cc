#include "src/train/tower.h"

#include <cmath>
#include <utility>

#include "src/train/batch_places.h"

namespace recpack {

Tower::Tower(std::vector<std::unique_ptr<Ops>> ops, std::unique_ptr<VariableStrategy> strategy,
             float scale)
    : ops_(std::move(ops)), strategy_(std::move(strategy)), scale_(scale) {}

void Tower::Place(const ModelGraph& graph, const DeviceOfOperation& device_of) {
  if (ops_.size() == 1) return;
  std::vector<Ops*> devices;
  for (const auto& device : ops_) devices.push_back(device.get());
  placement_ = std::make_unique<Placement>(devices, graph, device_of);
}

void Tower::Build(const MakeModel& make, uint64_t seed) {
  if (!placement_) ops().Attach();  // or else its queue's thread is attached
  model_ = make(ops(), placement_.get());
  model_->WaitBefore([this](size_t variable) { strategy_->Need(variable); });
  model_->Build(strategy_->slots(), seed);
  sums_ = ops().Allocate(sizeof(LossSums));
  mask_ = ops().Allocate(static_cast<size_t>(model_->context().batch));
  strategy_->Start(ops(), model_->variables());
}

void Tower::RepeatSteps(RepeatedStep::Refused refused) {
  if (!strategy_->Repeats()) return;
  repeated_.emplace(
      ops(), [this](const BatchArrays& batch) { Compute(batch); }, std::move(refused));
}

void Tower::Train(DeviceBatch& batch, const UpdateStep& step) {
  batch.OnStream(ops().Stream());
  strategy_->BeginStep(step);
  if (repeated_) return repeated_->Do(batch);
  Compute(BatchPlaces(batch));
}

void Tower::Compute(const BatchArrays& batch) {
  model_->Forward(batch, nullptr, true, scale_, sums_.As<LossSums>());
  model_->Backward(batch, [this](size_t variable) { strategy_->Ready(variable); });
  strategy_->EndStep();
}

LossSums Tower::Evaluate(DeviceBatch& batch) {
  batch.OnStream(ops().Stream());
  ops().Upload(mask_.data(), batch.mask().data(), batch.mask().size());
  model_->Forward(BatchPlaces(batch), mask_.As<uint8_t>(), false, 0, sums_.As<LossSums>());
  LossSums sums;
  ops().Download(&sums, sums_.data(), sizeof sums);
  return sums;
}

std::vector<float> Tower::Statistics() {
  const Variables& variables = model_->variables();
  std::vector<float> values(variables.statistics_size());
  ops().Download(values.data(), variables.statistics(), values.size() * sizeof(float));
  return values;
}

void Tower::SetStatistics(const std::vector<float>& values) {
  ops().Upload(model_->variables().statistics(), values.data(), values.size() * sizeof(float));
}

TransferAccount Tower::TakeTransfers() {
  return placement_ ? placement_->transfers().Take() : TransferAccount{};
}

std::string Tower::FirstBadLayer() {
  for (const auto& [name, tensor] : model_->Activity()) {
    const Tensor flat{tensor.data, tensor.type, {tensor.elements()}};
    const DeviceArray copy = ops().Allocate(static_cast<size_t>(tensor.elements()) * sizeof(float));
    ops().Convert(flat, {copy.data(), ValueType::kF32, flat.shape});
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    ops().Download(values.data(), copy.data(), values.size() * sizeof(float));
    for (const float value : values) {
      if (!std::isfinite(value)) return name;
    }
  }
  return {};
}

}  // namespace recpack
