#include "src/probe/gain/gain_blocks.h"

namespace recpack::probe {

void GainTrainer::Took(const GainMark& mark, uint64_t block, int64_t time, uint32_t block_steps) {
  if (mark.kind == GainMark::kEndOfEpoch) {
    interrupted = true;
    return;
  }
  constexpr uint64_t kMostBlocks = 1 << 20;  // a larger number comes from a damaged file
  if (block > kMostBlocks || block + 1 < blocks.size()) return;
  batch_size = mark.batch_size;
  ++batches;
  blocks.resize(block + 1);
  Block& now = blocks.back();
  now.kind = mark.kind;
  // The first LeftOut() batches are not measured.
  if (now.taken > LeftOut(block_steps) && !interrupted) {
    ++now.intervals;
    now.time += time - last;
  }
  ++now.taken;
  last = time;
  interrupted = false;
}

std::optional<std::vector<double>> GainTrainer::Round(size_t number, uint32_t block_steps) const {
  const size_t first = 1 + number * GainPlan::kKinds, end = first + GainPlan::kKinds;
  if (blocks.size() <= end) return std::nullopt;  // the last block has not ended
  const uint32_t fewest = (block_steps - 1 - LeftOut(block_steps)) / 2;
  std::vector<double> seconds(GainPlan::kKinds);
  for (size_t i = first; i < end; ++i) {
    const Block& block = blocks[i];
    if (block.intervals < fewest || block.time <= 0) return std::nullopt;
    seconds[block.kind] = 1e-9 * static_cast<double>(block.time) / block.intervals;
  }
  for (const double each : seconds) {
    if (!(each > 0)) return std::nullopt;
  }
  return seconds;
}

}  // namespace recpack::probe
