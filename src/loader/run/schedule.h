// Schedule: computes which samples make up each batch.
#pragma once

#include <cstdint>

namespace recpack {

enum class LastBatch : uint8_t;
enum class RankShare : uint8_t;

// One rank's share of one step.
struct BatchPlan {
  uint64_t epoch = 0;
  uint64_t step = 0;   // in the epoch, counted from where this run began
  uint64_t first = 0;  // position of the step's first sample, over all ranks
  uint64_t own = 0;    // position of this batch's first sample
  uint64_t next = 0;  // position for a token: the next step's if all batches of this step are given
  uint32_t samples = 0;  // of this rank, 0..batch size; positions >= `records` repeat others
};

// Ranks that a loader makes batches for.
struct RankSpan {
  uint32_t all = 1;
  uint32_t first = 0;
  uint32_t count = 1;  // batches per step, one for each rank
};

// Global step s covers positions [begin + s * batch * ranks, + batch * ranks). With
// RankShare::kSamples, sample j of rank r is at position first + j * ranks + r, so a rank stays in
// its own lanes if the number of ranks divides the number of lanes. With kBatches it is at first +
// r * batch + j.
class Schedule {
 public:
  // Begins at `position` of `epoch`, as in a token; ends before the epoch `epochs`, which is 0 if
  // there is no end.
  Schedule(uint64_t records, uint32_t batch, const RankSpan& ranks, RankShare share, LastBatch last,
           uint64_t epoch, uint64_t position, uint64_t epochs);

  // Returns the n-th batch since the beginning, across epochs. O(1).
  BatchPlan Plan(uint64_t n) const noexcept;

  // Batches in the first epoch, which may be 0 if little is left of it, and in each later epoch.
  uint64_t steps_of_first() const noexcept { return first_steps_; }
  uint64_t steps_of_others() const noexcept { return steps_; }
  // Batches in all; UINT64_MAX if there is no end.
  uint64_t steps() const noexcept { return all_steps_; }

  uint64_t Position(const BatchPlan& plan, uint32_t sample) const noexcept {
    return plan.own + uint64_t{sample} * stride_;
  }

 private:
  uint64_t Batches(uint64_t left) const noexcept;

  uint64_t records_;
  uint64_t batch_;
  RankSpan ranks_;
  uint64_t stride_;      // between a batch's samples
  uint64_t rank_begin_;  // offset between the ranks' first samples in a step
  LastBatch last_;
  uint64_t epoch_;
  uint64_t position_;
  uint64_t first_steps_;  // batches
  uint64_t steps_;
  uint64_t all_steps_ = UINT64_MAX;
};

}  // namespace recpack
