// Batches and times of one training thread in the blocks of a run of recprobe gain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/base/gain.h"

namespace recpack::probe {

// Number of steps at the beginning of a block that are not measured: the trainer still has batches
// of the previous block, and may be ahead of its device.
constexpr uint32_t LeftOut(uint32_t block_steps) noexcept { return block_steps / 4; }

struct GainTrainer {
  // Records that a batch was taken, or that an epoch ended.
  void Took(const GainMark& mark, uint64_t block, int64_t time, uint32_t block_steps);

  // Number of finished rounds.
  size_t rounds() const noexcept {
    return blocks.size() < 2 ? 0 : (blocks.size() - 2) / GainPlan::kKinds;
  }
  // Seconds per step of one round, by kind. Returns nullopt if a block has too few measured steps.
  std::optional<std::vector<double>> Round(size_t number, uint32_t block_steps) const;

  struct Block {
    uint32_t kind = 0;
    uint32_t taken = 0;      // batches
    uint32_t intervals = 0;  // measured times from one batch to the next
    int64_t time = 0;        // sum of the intervals, ns
  };
  uint32_t batch_size = 0;
  uint64_t batches = 0;
  std::vector<Block> blocks;  // by number
  int64_t last = 0;           // time of the last batch
  bool interrupted = false;   // an epoch has ended since the last batch
};

}  // namespace recpack::probe
