#include "src/loader/run/schedule.h"

#include <algorithm>

#include "recpack/loader/loader.h"

namespace recpack {

Schedule::Schedule(uint64_t records, uint32_t batch, const RankSpan& ranks, RankShare share,
                   LastBatch last, uint64_t epoch, uint64_t position, uint64_t epochs)
    : records_(records),
      batch_(batch),
      ranks_(ranks),
      stride_(share == RankShare::kSamples ? ranks.all : 1),
      rank_begin_(share == RankShare::kSamples ? 1 : batch),
      last_(last),
      epoch_(epoch),
      position_(position),
      first_steps_(Batches(records - std::min(position, records))),
      steps_(Batches(records)) {
  if (epochs == 0) return;
  if (epoch >= epochs) {
    all_steps_ = 0;
  } else if (steps_ == 0 || epochs - 1 - epoch < (UINT64_MAX - first_steps_) / steps_) {
    all_steps_ = first_steps_ + (epochs - 1 - epoch) * steps_;
  }
}

uint64_t Schedule::Batches(uint64_t left) const noexcept {
  const uint64_t step = batch_ * ranks_.all;
  return (last_ == LastBatch::kDrop ? left / step : (left + step - 1) / step) * ranks_.count;
}

BatchPlan Schedule::Plan(uint64_t n) const noexcept {
  BatchPlan plan;
  uint64_t begin = position_;
  if (n < first_steps_) {
    plan.epoch = epoch_;
  } else {
    plan.epoch = epoch_ + 1 + (n - first_steps_) / steps_;
    n = (n - first_steps_) % steps_;
    begin = 0;
  }
  plan.step = n / ranks_.count;
  const uint64_t turn = n % ranks_.count;
  const uint64_t rank = ranks_.first + turn;
  const uint64_t step = batch_ * ranks_.all;
  plan.first = begin + plan.step * step;
  plan.own = plan.first + rank * rank_begin_;
  plan.next = turn + 1 < ranks_.count ? plan.first : std::min(plan.first + step, records_);
  plan.samples = static_cast<uint32_t>(batch_);
  if (last_ == LastBatch::kKeep) {
    const uint64_t own = records_ > plan.own ? (records_ - plan.own + stride_ - 1) / stride_ : 0;
    plan.samples = static_cast<uint32_t>(std::min<uint64_t>(batch_, own));
  }
  return plan;
}

}  // namespace recpack
