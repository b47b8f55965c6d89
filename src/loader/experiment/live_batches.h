// Interface of a loader's live side to an experiment that replaces its batches.
#pragma once

#include <cstdint>
#include <optional>

#include "recpack/loader/batch.h"
#include "recpack/loader/token.h"
#include "src/loader/batch/batch_maker.h"

namespace recpack {

// Used by the consumer's thread. Live batches are numbered as in the ring.
class LiveBatches {
 public:
  virtual ~LiveBatches() = default;

  // Throws if the loader gives no more batches, live or not.
  virtual void Check() const = 0;

  // Returns the next batch, or nullopt at the end of an epoch, as Loader::Next().
  virtual std::optional<Batch> Take() = 0;

  // Waits until the next batch is complete, without taking it. Returns its number.
  virtual uint64_t WaitForNext() = 0;

  virtual BatchFacts DescribeBatch(uint64_t number) const = 0;

  // Position after the last batch taken.
  virtual const ResumeToken& position() const noexcept = 0;
};

}  // namespace recpack
