// A loader's part in a run of recprobe gain.
#pragma once

#include <cstdint>
#include <optional>

#include "recpack/base/event_log.h"
#include "recpack/base/gain.h"

namespace recpack {

// The consumer's thread.
class GainRun {
 public:
  struct Loading {
    bool drops_last;       // samples that do not fill a batch
    uint32_t batch_size;   // of one rank
    uint32_t local_ranks;  // that get a batch each in turn
  };

  // `loader`: its number in the process.
  GainRun(const GainPlan& plan, const Loading& loading, uint32_t loader)
      : plan_(plan),
        drops_(loading.drops_last),
        mark_{.loader = loader, .batch_size = loading.batch_size},
        step_batches_(loading.local_ranks) {}

  void CountSteps(uint32_t batches) noexcept {
    step_batches_ = batches;
    tells_ = false;
  }

  // Of the batch that comes next.
  GainPlan::Block Block() const noexcept { return plan_.At(given_ / step_batches_); }
  // In the block that warms up, in which nothing is measured.
  bool warms_up() const noexcept { return given_ / step_batches_ < plan_.block_steps(); }

  // A batch was given.
  void Gave(const GainPlan::Block& block) {
    ++given_;
    Tell(block.kind, block.number);
  }

  // What is left of an epoch and makes no step is left out, or is a step.
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
