// What a loader gives while an experiment asks for other batches than those of the data set.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "recpack/pipeline/batch.h"
#include "src/pipeline/ring.h"

namespace recpack {

// The consumer's thread.
class Playback {
 public:
  // Arrays of a batch that is made up.
  struct Synthetic {
    std::shared_ptr<void> slab;
    std::vector<uint64_t> ids;
    std::vector<uint32_t> views;
    std::vector<uint8_t> mask;
  };
  // A batch of the ring that is repeated, and what keeps it from being written anew.
  struct Repeated {
    uint64_t number;
    std::shared_ptr<void> hold;
  };

  Playback(StatsBlocks& page, std::shared_ptr<Ring> ring, uint32_t chunks);

  // What is asked for now, by the page. A request whose time is over is taken back.
  LoaderMode Wanted() noexcept;

  // Takes on a mode: says so on the page, and lets the workers work, or not.
  void Enter(LoaderMode mode) noexcept;

  // The next batch to repeat, of those that are ready from `next` on. `next` is ready.
  const Repeated& Repeat(uint64_t next);

  // What holds the live batch `number`: it goes back to the ring with the last batch that has it,
  // live or repeated.
  std::shared_ptr<void> TakeHold(uint64_t number);

  // Made at the first call: bytes and floats at random, integers 0.
  const std::shared_ptr<const Synthetic>& MadeUp(const std::vector<ArraySpec>& arrays,
                                                 uint32_t samples, size_t slab_bytes,
                                                 SlabAllocator& slabs);

 private:
  std::shared_ptr<void> Hold(uint64_t number);

  ControlBlock& control_;
  const std::shared_ptr<Ring> ring_;
  const uint32_t chunks_;  // of a batch
  LoaderMode mode_ = LoaderMode::kLive;
  std::deque<Repeated> repeated_;  // in order, from the next live one on
  size_t at_ = 0;                  // repeated so far
  size_t size_ = 0;                // of them, those that are repeated in this phase
  std::shared_ptr<const Synthetic> synthetic_;
};

}  // namespace recpack
