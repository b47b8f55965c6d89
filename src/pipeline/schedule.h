// Which samples make up which batch: arithmetic only.
#pragma once

#include <cstdint>

namespace recpack {

enum class LastBatch : uint8_t;

// One rank's share of one step.
struct BatchPlan {
  uint64_t epoch = 0;
  uint64_t step = 0;     // in the epoch, counted from where this run began it
  uint64_t first = 0;    // position of the step's first sample, over all ranks
  uint64_t next = 0;     // position after the step: what a token says
  uint32_t samples = 0;  // of this rank, 0..batch size; those beyond `records` repeat others
};

// Global step s covers positions [begin + s * batch * ranks, + batch * ranks); sample j of rank r
// is position first + j * ranks + r, so that with lanes that the ranks divide a rank keeps to its
// own.
class Schedule {
 public:
  // Begins at `position` of `epoch`, as a token says.
  Schedule(uint64_t records, uint32_t batch, uint32_t ranks, uint32_t rank, LastBatch last,
           uint64_t epoch, uint64_t position);

  // The n-th batch since the beginning, through all epochs. O(1).
  BatchPlan Plan(uint64_t n) const noexcept;

  // Batches of the epoch begun, which may be 0 where little is left of it, and of each later one.
  uint64_t steps_of_first() const noexcept { return first_steps_; }
  uint64_t steps_of_others() const noexcept { return steps_; }

  uint64_t Position(const BatchPlan& plan, uint32_t sample) const noexcept {
    return plan.first + uint64_t{sample} * ranks_ + rank_;
  }

 private:
  uint64_t Steps(uint64_t left) const noexcept;

  uint64_t records_;
  uint64_t batch_;
  uint64_t ranks_;
  uint64_t rank_;
  LastBatch last_;
  uint64_t epoch_;
  uint64_t position_;
  uint64_t first_steps_;
  uint64_t steps_;
};

}  // namespace recpack
