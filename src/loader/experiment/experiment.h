// Experiment: replaces a loader's live batches on request and in a run of recprobe gain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "recpack/loader/loader.h"
#include "src/loader/batch/batch_maker.h"
#include "src/loader/experiment/gain_run.h"
#include "src/loader/experiment/live_batches.h"
#include "src/loader/experiment/playback.h"

namespace recpack {

// Stands between a loader's live batches and its consumer, whose thread uses it.
class Experiment {
 public:
  // Takes part in a run of recprobe gain if the environment asks for one and the options allow it.
  // Throws as GainPlan::FromEnvironment().
  Experiment(const LoaderOptions& options, StatsBlocks& page, std::shared_ptr<Ring> ring,
             const Playback::Layout& layout);

  // As the functions of Loader.
  LoaderMode NextMode() noexcept;
  bool in_gain_run() const noexcept { return gain_.has_value(); }
  void CountSteps(uint32_t batches) noexcept;

  // Returns a live batch or its replacement, as the mode says; nullopt at the end of a live epoch.
  std::optional<Batch> Next(LiveBatches& live);

  // Call for each complete live batch before it is given. Copies those of a warm-up; then throws as
  // Playback::Keep().
  void BeforeGiving(uint64_t number, const BatchFacts& facts);

 private:
  std::optional<Batch> Replacement(LoaderMode mode, LiveBatches& live);
  std::optional<Batch> TakeLive(LiveBatches& live);
  Batch Show(const std::shared_ptr<const Playback::Kept>& kept, const BatchFacts& facts,
             const LiveBatches& live) const;

  const BatchMaker maker_;
  const uint32_t batch_size_;
  Playback playback_;
  std::optional<GainRun> gain_;
};

}  // namespace recpack
