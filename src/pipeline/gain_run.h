// A loader's part in a run of recprobe gain.
#pragma once

#include <cstdint>
#include <optional>

#include "recpack/base/event_log.h"
#include "recpack/base/gain.h"
#include "recpack/pipeline/loader.h"

namespace recpack {

// The consumer's thread.
class GainRun {
 public:
  // `loader`: its number in the process.
  GainRun(const GainPlan& plan, const LoaderOptions& options, uint32_t loader)
      : plan_(plan),
        drops_(options.last_batch == LastBatch::kDrop),
        mark_{.loader = loader, .batch_size = options.batch_size},
        step_batches_(options.local_ranks) {}

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
