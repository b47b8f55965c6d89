#include "src/train/run/dispatch.h"

#include <cstring>
#include <utility>

namespace recpack::train {

Dispatch::Dispatch(Tower& tower, size_t index, size_t steps, Take take)
    : tower_(tower),
      events_(tower.devices_tell() ? Event::kNoDevice : index),
      steps_(steps),
      at_once_(tower.strategy().StepsAtOnce()),
      take_(std::move(take)),
      late_(tower.devices()[0]->Stream() != nullptr),
      host_(late_ || tower.devices_tell() || tower.devices()[0]->RecordsOperations()) {
  for (Part& part : parts_) {
    part.sums = tower.MakeReadback(steps * sizeof(LossSums));
  }
}

void Dispatch::Step(DeviceBatch& batch, const UpdateStep& step) {
  const EventSpan computes = events_.Computes(host_);
  Part& part = parts_[filled_];
  last_ = static_cast<uint64_t>(step.number) - 1;
  part.steps.push_back({.step = last_, .token = batch.token()});
  waiting_.push_back({&batch, step});
  if (waiting_.size() == at_once_) Give(at_once_);
  if (part.steps.size() < steps_) return;
  filled_ = 1 - filled_;
  Read(late_ ? parts_[filled_] : part);
}

void Dispatch::Finish() {
  const EventSpan computes = events_.Computes(host_);
  Give(1);
  Read(parts_[1 - filled_]);
  Read(parts_[filled_]);
}

// Runs the waiting steps, `at_once` at a time.
void Dispatch::Give(size_t at_once) {
  const std::vector<Tower::Step> waiting = std::exchange(waiting_, {});
  const Part& part = parts_[filled_];
  for (size_t i = 0; i < waiting.size(); i += at_once) {
    const size_t place = part.steps.size() - waiting.size() + i;
    tower_.Train({&waiting[i], at_once}, *part.sums, place * sizeof(LossSums));
  }
}

void Dispatch::Read(Part& part) {
  const std::vector<StepResult> steps = std::exchange(part.steps, {});
  if (steps.empty()) return;
  const auto* const sums = static_cast<const std::byte*>(part.sums->Wait());
  for (size_t i = 0; i < steps.size(); ++i) {
    StepResult result = steps[i];
    std::memcpy(&result.sums, sums + i * sizeof(LossSums), sizeof(LossSums));
    result.later = last_ - result.step;
    take_(result);
  }
}

}  // namespace recpack::train
