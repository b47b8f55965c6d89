// What one training thread did in the blocks of a run of recprobe gain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/base/gain.h"

namespace recpack::probe {

// Of a block's steps those at its beginning, in which the trainer still has batches of the one
// before, and may be ahead of its device.
constexpr uint32_t LeftOut(uint32_t block_steps) noexcept { return block_steps / 4; }

struct GainTrainer {
  // Takes the batch, or the end of an epoch.
  void Took(const GainMark& mark, uint64_t block, int64_t time, uint32_t block_steps);

  // That were finished.
  size_t rounds() const noexcept {
    return blocks.size() < 2 ? 0 : (blocks.size() - 2) / GainPlan::kKinds;
  }
  // Seconds a step by kind, of one of them; nothing where a block has too few.
  std::optional<std::vector<double>> Round(size_t number, uint32_t block_steps) const;

  struct Block {
    uint32_t kind = 0;
    uint32_t taken = 0;      // batches
    uint32_t intervals = 0;  // measured, from one batch to the next
    int64_t time = 0;        // of these, ns
  };
  uint32_t batch_size = 0;
  uint64_t batches = 0;
  std::vector<Block> blocks;  // by number
  int64_t last = 0;           // when the last batch was taken
  bool interrupted = false;   // an epoch has ended since then
};

}  // namespace recpack::probe
