// Which samples make up which batch: arithmetic only.
#pragma once

#include <cstdint>

namespace recpack {

enum class LastBatch : uint8_t;
enum class RankShare : uint8_t;

// One rank's share of one step.
struct BatchPlan {
  uint64_t epoch = 0;
  uint64_t step = 0;   // in the epoch, counted from where this run began it
  uint64_t first = 0;  // position of the step's first sample, over all ranks
  uint64_t own = 0;    // position of this batch's first sample
  uint64_t next = 0;   // what a token says: position after the step once all its batches are given
  uint32_t samples = 0;  // of this rank, 0..batch size; those beyond `records` repeat others
};

// The ranks that one loader makes batches for.
struct RankSpan {
  uint32_t all = 1;
  uint32_t first = 0;
  uint32_t count = 1;  // batches of a step, one for each
};

// Global step s covers positions [begin + s * batch * ranks, + batch * ranks). Of shares of samples
// sample j of rank r is position first + j * ranks + r, so that with lanes that the ranks divide a
// rank keeps to its own; of batches it is first + r * batch + j.
class Schedule {
 public:
  // Begins at `position` of `epoch`, as a token says.
  Schedule(uint64_t records, uint32_t batch, const RankSpan& ranks, RankShare share, LastBatch last,
           uint64_t epoch, uint64_t position);

  // The n-th batch since the beginning, through all epochs. O(1).
  BatchPlan Plan(uint64_t n) const noexcept;

  // Batches of the epoch begun, which may be 0 where little is left of it, and of each later one.
  uint64_t steps_of_first() const noexcept { return first_steps_; }
  uint64_t steps_of_others() const noexcept { return steps_; }

  uint64_t Position(const BatchPlan& plan, uint32_t sample) const noexcept {
    return plan.own + uint64_t{sample} * stride_;
  }

 private:
  uint64_t Batches(uint64_t left) const noexcept;

  uint64_t records_;
  uint64_t batch_;
  RankSpan ranks_;
  uint64_t stride_;      // between a batch's samples
  uint64_t rank_begin_;  // of a rank's first sample in a step, times its number
  LastBatch last_;
  uint64_t epoch_;
  uint64_t position_;
  uint64_t first_steps_;  // batches
  uint64_t steps_;
};

}  // namespace recpack
