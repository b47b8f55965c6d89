#include "src/train/run/tower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

// Number of captures kept. Single steps have as many sets of addresses as the feeder's depth.
// Captures of several steps are larger and differ if an epoch ends within them: few are kept.
constexpr size_t kMostPlaces = 64, kMostSeveral = 4;

std::vector<float> Floats(Ops& ops, const Tensor& tensor) {
  const Tensor flat{tensor.data, tensor.type, {tensor.elements()}};
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  const DeviceArray copy = ops.Allocate(values.size() * sizeof(float));
  ops.Convert(flat, {copy.data(), ElementType::kF32, flat.shape});
  ops.Download(values.data(), copy.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

BatchPlaces::BatchPlaces(const DeviceBatch& batch) {
  for (const ArraySpec& array : batch.arrays()) {
    all_.push_back(batch.Raw(all_.size()));
    by_name_[array.name] = all_.back();
  }
}

const void* BatchPlaces::Raw(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  throw Error(ErrorKind::kInvalidArgument, format("the batch has no array '{}'", name));
}

Tower::Tower(std::vector<std::unique_ptr<Ops>> ops, std::unique_ptr<VariableStrategy> strategy,
             float scale)
    : ops_(std::move(ops)), scale_(scale), strategy_(std::move(strategy)) {}

void Tower::Place(const ModelGraph& graph, const DeviceOfOperation& device_of) {
  if (ops_.size() == 1) return;
  std::vector<Ops*> devices;
  for (const auto& device : ops_) devices.push_back(device.get());
  placement_ = std::make_unique<Placement>(devices, graph, device_of);
}

void Tower::Build(const MakeModel& make, uint64_t seed) {
  if (!placement_) ops().Attach();
  model_ = make(ops(), placement_.get());
  model_->WaitBefore([this](size_t variable) { strategy_->Need(variable); });
  model_->Build(strategy_->slots(), seed);
  OnFirst([this] {
    sums_ = ops().Allocate(strategy_->StepsAtOnce() * sizeof(LossSums));
    mask_ = ops().Allocate(static_cast<size_t>(model_->context().batch));
  });
  strategy_->Start(ops(), model_->variables());
}

void Tower::RepeatSteps(RepeatedWork::Refused refused) {
  if (!strategy_->Repeats()) return;
  repeated_.emplace(ops(), kMostPlaces, refused);
  several_.emplace(ops(), kMostSeveral, std::move(refused));
}

void Tower::OnFirst(const std::function<void()>& work) {
  placement_ ? placement_->first().DoAndJoin(work) : work();
}

std::unique_ptr<Readback> Tower::MakeReadback(size_t bytes) {
  std::unique_ptr<Readback> readback;
  OnFirst([&] { readback = ops().MakeReadback(bytes); });
  return readback;
}

void Tower::Train(std::span<const Step> steps, Readback& sums, size_t offset) {
  const auto batches = std::make_shared<std::vector<BatchPlaces>>();
  RepeatedWork::Places places;
  std::vector<UpdateStep> updates;
  updates.reserve(steps.size());
  batches->reserve(steps.size());
  for (const Step& step : steps) {
    step.batch->OnStream(ops().Stream());
    const BatchPlaces& arrays = batches->emplace_back(*step.batch);
    places.insert(places.end(), arrays.all().begin(), arrays.all().end());
    updates.push_back(step.update);
  }
  strategy_->BeginSteps(updates);
  const auto compute = [this, batches] {
    for (size_t i = 0; i < batches->size(); ++i) Compute((*batches)[i], i);
  };
  auto& repeated = steps.size() > 1 ? several_ : repeated_;
  repeated ? repeated->Do(places, compute) : compute();
  strategy_->EndStep();
  OnFirst([&] { sums.Enqueue(offset, sums_.data(), steps.size() * sizeof(LossSums)); });
}

void Tower::Compute(const BatchArrays& batch, size_t step) {
  model_->Forward(batch, nullptr, true, scale_, sums_.As<LossSums>() + step);
  strategy_->BeginBackward(step);
  model_->Backward(batch, [this](size_t variable) { strategy_->Ready(variable); });
  ops().Rejoin();
}

LossSums Tower::Evaluate(DeviceBatch& batch) {
  batch.OnStream(ops().Stream());
  OnFirst([&] { ops().Upload(mask_.data(), batch.mask().data(), batch.mask().size()); });
  model_->Forward(BatchPlaces(batch), mask_.As<uint8_t>(), false, 0, sums_.As<LossSums>());
  LossSums sums;
  OnFirst([&] { ops().Download(&sums, sums_.data(), sizeof sums); });
  return sums;
}

std::vector<float> Tower::Statistics() {
  if (placement_) return {};
  const Variables& variables = model_->variables();
  std::vector<float> values(variables.statistics_size());
  OnFirst([&] {
    ops().Download(values.data(), variables.statistics(), values.size() * sizeof(float));
  });
  return values;
}

void Tower::SetStatistics(const std::vector<float>& values) {
  OnFirst([&] {
    ops().Upload(model_->variables().statistics(), values.data(), values.size() * sizeof(float));
  });
}

TransferAccount Tower::TakeTransfers() {
  return placement_ ? placement_->transfers().Take() : TransferAccount{};
}

std::string Tower::FirstBadLayer() {
  for (const LayerOutput& output : model_->Activity()) {
    std::vector<float> values;
    if (output.queue) {
      output.queue->DoAndJoin([&] { values = Floats(output.queue->ops(), output.value); });
    } else {
      values = Floats(ops(), output.value);
    }
    if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
      return output.name;
    }
  }
  return {};
}

}  // namespace recpack::train
