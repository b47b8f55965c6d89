// What a loader gives while an experiment asks for other batches than those of the data set.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/batch.h"
#include "src/loader/batch/ring.h"

namespace recpack {

// The consumer's thread.
class Playback {
 public:
  // A batch in memory of its own.
  struct Kept : BatchMemory {
    uint64_t number = 0;  // of the live batch that it is a copy of
  };

  // `slab_bytes`: of a batch. `chunks`: of one.
  Playback(StatsBlocks& page, std::shared_ptr<Ring> ring, size_t slab_bytes, uint32_t chunks,
           SlabAllocator& slabs);

  // What is asked for now, by the page. A request whose time is over is taken back.
  LoaderMode Wanted() noexcept;

  // Takes on a mode: says so on the page, and lets the workers work, or not. They go on with what
  // they had begun, and with live batches where they stood, as if nothing had been in between.
  void Enter(LoaderMode mode) noexcept;

  // Copies of live batches, to be repeated: as many as the ring has slabs, or as 256 MB hold.
  bool HasRoom() const noexcept { return kept_.size() < most_; }
  bool HasAny() const noexcept { return !kept_.empty(); }
  // The batch is ready. Throws what the allocator throws where there is no memory for the first.
  void Keep(uint64_t number);
  void Forget() noexcept { kept_.clear(); }

  // The next of the copies, of which there are some.
  const std::shared_ptr<const Kept>& Repeat() noexcept { return kept_[at_++ % kept_.size()]; }

  // Made at the first call: bytes and floats at random, integers 0.
  const std::shared_ptr<const Kept>& MadeUp(const std::vector<ArraySpec>& arrays, uint32_t samples);

 private:
  ControlBlock& control_;
  const std::shared_ptr<Ring> ring_;
  const size_t slab_bytes_;
  const uint32_t chunks_;
  SlabAllocator& slabs_;
  LoaderMode mode_ = LoaderMode::kLive;
  size_t most_;
  size_t at_ = 0;  // repeated in this mode
  std::vector<std::shared_ptr<const Kept>> kept_;
  std::shared_ptr<const Kept> synthetic_;
};

}  // namespace recpack
