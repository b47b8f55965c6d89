// Checkpoints of one run: the one it resumes from, and those it writes.
#pragma once

#include <optional>
#include <string>

#include "src/train/checkpoint/checkpoint_folder.h"
#include "src/train/run/epoch_sums.h"
#include "src/train/run/tower.h"
#include "src/train/run/trainer.h"
#include "src/train/world/process_world.h"

namespace recpack::train {

class RunCheckpoints {
 public:
  // Every process reads the checkpoint to resume from; the first process chooses it, if the options
  // name a folder, and opens the folder to write to. `options` must outlive this object. Throws
  // Error: kInvalidArgument for a checkpoint with another seed, or a run that cannot have
  // checkpoints; errors of ReadCheckpoint() and CheckpointFolder.
  RunCheckpoints(const TrainerOptions& options, const ProcessWorld& world,
                 const TrainerNotice& notice);

  // Where the run begins.
  const CheckpointInfo& begin() const noexcept { return begin_; }
  // Set if the loader first reports the end of the epoch before the begin.
  bool skip_end() const noexcept { return skip_end_; }

  // Call before the tower's first step; does nothing for a new run. Thread-safe. Throws Error
  // (kInvalidArgument) with the differences if the checkpoint has another model.
  void Restore(Tower& tower) const;
  // Frees the stored arrays; no tower needs Restore() any more.
  void AllRestored() noexcept { stored_.reset(); }

  bool written() const noexcept { return !options_.checkpoints.empty(); }
  // Tells whether to write a checkpoint after this step, within an epoch.
  bool IsDue(uint64_t step) const noexcept;
  // Called for the first tower of all, after VariableStrategy::Settle() on all. Not thread-safe.
  void Save(CheckpointInfo at, const ScoreSums& train, Tower& tower);

 private:
  void Read(const std::string& path, const TrainerNotice& notice);

  const TrainerOptions& options_;
  std::string path_;                  // checkpoint that the run resumes from
  std::optional<Checkpoint> stored_;  // its contents
  CheckpointInfo begin_;
  bool skip_end_ = false;
  std::optional<CheckpointFolder> folder_;
};

}  // namespace recpack::train
