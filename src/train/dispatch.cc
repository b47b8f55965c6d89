#include "src/train/dispatch.h"

#include <cstring>
#include <utility>

namespace recpack {

Dispatch::Dispatch(Tower& tower, size_t index, size_t steps, Take take)
    : tower_(tower),
      events_(index),
      steps_(steps),
      take_(std::move(take)),
      late_(tower.devices()[0]->Stream() != nullptr) {
  for (Part& part : parts_) {
    part.sums = tower.MakeReadback(steps * sizeof(LossSums));
  }
}

void Dispatch::Step(DeviceBatch& batch, const UpdateStep& step) {
  const EventSpan computes = events_.Computes(late_);
  Part& part = parts_[filled_];
  tower_.Train(batch, step);
  tower_.ReadSums(*part.sums, part.steps.size() * sizeof(LossSums));
  last_ = static_cast<uint64_t>(step.number) - 1;
  part.steps.push_back({.step = last_, .token = batch.token()});
  if (part.steps.size() < steps_) return;
  filled_ = 1 - filled_;
  Read(late_ ? parts_[filled_] : part);
}

void Dispatch::Finish() {
  const EventSpan computes = events_.Computes(late_);
  Read(parts_[1 - filled_]);
  Read(parts_[filled_]);
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

}  // namespace recpack
