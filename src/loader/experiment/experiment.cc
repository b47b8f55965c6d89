#include "src/loader/experiment/experiment.h"

#include <utility>

#include "recpack/loader/token.h"

namespace recpack {
namespace {

std::optional<GainRun> MakeGainRun(const LoaderOptions& options, uint32_t loader) {
  const auto asked = GainPlan::FromEnvironment();
  if (!asked || !options.in_gain_runs) return std::nullopt;
  return GainRun(*asked,
                 {.drops_last = options.last_batch == LastBatch::kDrop,
                  .batch_size = options.batch_size,
                  .local_ranks = options.local_ranks},
                 loader);
}

}  // namespace

Experiment::Experiment(const LoaderOptions& options, StatsBlocks& page, std::shared_ptr<Ring> ring,
                       const Playback::Layout& layout)
    : maker_(layout.arrays),
      batch_size_(options.batch_size),
      playback_(page, std::move(ring), layout, *options.slabs),
      gain_(MakeGainRun(options, page.header.number)) {}

LoaderMode Experiment::NextMode() noexcept {
  return gain_ ? static_cast<LoaderMode>(gain_->Block().kind) : playback_.Wanted();
}

void Experiment::CountSteps(uint32_t batches) noexcept {
  if (gain_) gain_->CountSteps(batches);
}

std::optional<Batch> Experiment::Next(LiveBatches& live) {
  const LoaderMode mode = NextMode();
  live.Check();
  std::optional<Batch> batch;
  if (mode != LoaderMode::kLive) batch = Replacement(mode, live);
  if (!batch) batch = TakeLive(live);
  if (!gain_) return batch;
  if (!batch) {
    gain_->EndEpoch();
    return batch;
  }
  const GainPlan::Block block = gain_->Block();
  BatchMaker::SetBlock(*batch, block);
  gain_->Gave(block);
  return batch;
}

// Returns nullopt if the next live batch failed, which live mode then reports.
std::optional<Batch> Experiment::Replacement(LoaderMode mode, LiveBatches& live) {
  if (mode == LoaderMode::kSynthetic) {
    const auto& made = playback_.MadeUp();
    playback_.Enter(mode);
    return Show(made, {.epoch = live.position().epoch, .size = batch_size_}, live);
  }
  if (!playback_.HasAny() && !playback_.KeepReady(live)) return std::nullopt;
  playback_.Enter(mode);
  const auto& kept = playback_.Repeat();
  return Show(kept, kept->facts, live);
}

std::optional<Batch> Experiment::TakeLive(LiveBatches& live) {
  playback_.Enter(LoaderMode::kLive);
  if (!gain_) playback_.Forget();  // a run of recprobe gain repeats the batches of its warm-up
  return live.Take();
}

// The token stays that of the last live batch.
Batch Experiment::Show(const std::shared_ptr<const Playback::Kept>& kept, const BatchFacts& facts,
                       const LiveBatches& live) const {
  return maker_.Make(facts, TokenText(live.position()), *kept,
                     std::const_pointer_cast<Playback::Kept>(kept));
}

void Experiment::BeforeGiving(uint64_t number, const BatchFacts& facts) {
  if (!gain_ || !gain_->warms_up()) return;
  if (facts.size == batch_size_ && playback_.HasRoom()) playback_.Keep(number, facts);
}

}  // namespace recpack
