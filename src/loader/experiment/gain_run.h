// Tracks a loader's progress in a run of recprobe gain.
#pragma once

#include <cstdint>
#include <optional>

#include "recpack/base/event_log.h"
#include "recpack/base/gain.h"

namespace recpack {

// Used by the consumer's thread.
class GainRun {
 public:
  struct Loading {
    bool drops_last;       // drops samples that do not fill a batch
    uint32_t batch_size;   // per rank
    uint32_t local_ranks;  // ranks that get a batch each in turn
  };

  // `loader`: number of the loader in the process.
  GainRun(const GainPlan& plan, const Loading& loading, uint32_t loader)
      : plan_(plan),
        drops_(loading.drops_last),
        mark_{.loader = loader, .batch_size = loading.batch_size},
        step_batches_(loading.local_ranks) {}

  void CountSteps(uint32_t batches) noexcept {
    step_batches_ = batches;
    tells_ = false;
  }

  // Returns the block of the next batch.
  GainPlan::Block Block() const noexcept { return plan_.At(given_ / step_batches_); }
  // Returns true in the warm-up block, which is not measured.
  bool warms_up() const noexcept { return given_ / step_batches_ < plan_.block_steps(); }

  // Call for each batch given.
  void Gave(const GainPlan::Block& block) {
    ++given_;
    Tell(block.kind, block.number);
  }

  // Batches at the end of an epoch that do not make a step are dropped, or count as a step.
  void EndEpoch() {
    const uint64_t rest = given_ % step_batches_;
    if (rest > 0) given_ = drops_ ? given_ - rest : given_ - rest + step_batches_;
    Tell(GainMark::kEndOfEpoch, Block().number);
  }

 private:
  void Tell(uint32_t kind, uint64_t block) {
    if (!tells_) return;
    mark_.kind = kind;
    mark_.Tell(block, Event::kNoDevice);
  }

  const GainPlan plan_;
  const bool drops_;
  GainMark mark_;
  uint32_t step_batches_;
  uint64_t given_ = 0;  // batches
  bool tells_ = true;
};

}  // namespace recpack
