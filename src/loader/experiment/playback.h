// Playback: repeats copies of batches, or a synthetic one, while the workers pause.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/batch.h"
#include "src/loader/batch/batch_maker.h"
#include "src/loader/batch/ring.h"
#include "src/loader/experiment/live_batches.h"

namespace recpack {

// Used by the consumer's thread.
class Playback {
 public:
  // A copy of a batch, in its own memory.
  struct Kept : BatchMemory {
    BatchFacts facts;  // of the live batch that was copied
  };

  // Sizes and arrays of each batch.
  struct Layout {
    std::shared_ptr<const std::vector<ArraySpec>> arrays;
    size_t slab_bytes;
    uint32_t samples;
    uint32_t chunks;
  };

  Playback(StatsBlocks& page, std::shared_ptr<Ring> ring, Layout layout, SlabAllocator& slabs);

  // Returns the mode that the page requests now. Withdraws an expired request.
  LoaderMode Wanted() noexcept;

  // Enters a mode: writes it to the page and pauses or resumes the workers. They continue what they
  // had begun, and live batches continue where they stopped.
  void Enter(LoaderMode mode) noexcept;

  // Copies of live batches to repeat: as many as the ring has slabs, but at most 256 MB.
  bool HasRoom() const noexcept { return kept_.size() < most_; }
  bool HasAny() const noexcept { return !kept_.empty(); }
  // Copies a ready batch. Throws what the allocator throws if there is no memory for the first
  // copy.
  void Keep(uint64_t number, const BatchFacts& facts);
  // Waits for the next live batch and copies it and the ready ones after it. Returns false if it
  // failed.
  bool KeepReady(LiveBatches& live);
  void Forget() noexcept { kept_.clear(); }

  // Returns the next copy; there must be at least one.
  const std::shared_ptr<const Kept>& Repeat() noexcept { return kept_[at_++ % kept_.size()]; }

  // Returns the synthetic batch, made at the first call: random bytes and floats, integers 0.
  const std::shared_ptr<const Kept>& MadeUp();

 private:
  bool IsWhole(uint64_t number) const;

  ControlBlock& control_;
  const std::shared_ptr<Ring> ring_;
  const Layout layout_;
  SlabAllocator& slabs_;
  LoaderMode mode_ = LoaderMode::kLive;
  size_t most_;
  size_t at_ = 0;  // copies repeated in this mode
  std::vector<std::shared_ptr<const Kept>> kept_;
  std::shared_ptr<const Kept> synthetic_;
};

}  // namespace recpack
