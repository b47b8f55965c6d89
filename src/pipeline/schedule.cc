#include "src/pipeline/schedule.h"

#include <algorithm>

#include "recpack/pipeline/loader.h"

namespace recpack {

Schedule::Schedule(uint64_t records, uint32_t batch, uint32_t ranks, uint32_t rank, LastBatch last,
                   uint64_t epoch, uint64_t position)
    : records_(records),
      batch_(batch),
      ranks_(ranks),
      rank_(rank),
      last_(last),
      epoch_(epoch),
      position_(position),
      first_steps_(Steps(records - std::min(position, records))),
      steps_(Steps(records)) {}

uint64_t Schedule::Steps(uint64_t left) const noexcept {
  const uint64_t step = batch_ * ranks_;
  return last_ == LastBatch::kDrop ? left / step : (left + step - 1) / step;
}

BatchPlan Schedule::Plan(uint64_t n) const noexcept {
  BatchPlan plan;
  uint64_t begin = position_;
  if (n < first_steps_) {
    plan.epoch = epoch_;
    plan.step = n;
  } else {
    plan.epoch = epoch_ + 1 + (n - first_steps_) / steps_;
    plan.step = (n - first_steps_) % steps_;
    begin = 0;
  }
  plan.first = begin + plan.step * batch_ * ranks_;
  plan.next = std::min(plan.first + batch_ * ranks_, records_);
  plan.samples = static_cast<uint32_t>(batch_);
  if (last_ == LastBatch::kKeep) {
    const uint64_t left = records_ - plan.first;  // over all ranks
    const uint64_t own = left > rank_ ? (left - rank_ + ranks_ - 1) / ranks_ : 0;
    plan.samples = static_cast<uint32_t>(std::min<uint64_t>(batch_, own));
  }
  return plan;
}

}  // namespace recpack
