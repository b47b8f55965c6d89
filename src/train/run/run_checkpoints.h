// Checkpoints of one run: the one it goes on from, and those it writes.
#pragma once

#include <optional>
#include <string>

#include "src/train/checkpoint/checkpoint_folder.h"
#include "src/train/run/epoch_sums.h"
#include "src/train/run/tower.h"
#include "src/train/run/trainer.h"
#include "src/train/setup/process_world.h"

namespace recpack::train {

class RunCheckpoints {
 public:
  // Reads the one that the options name, in each process, and takes the folder to write to, in the
  // first, which chooses of a folder to read from. `options` has to outlive it. Throws Error:
  // kInvalidArgument for a checkpoint of another seed, or checkpoints of a run that can have none;
  // what ReadCheckpoint() and CheckpointFolder throw.
  RunCheckpoints(const TrainerOptions& options, const ProcessWorld& world,
                 const TrainerNotice& notice);

  // Where the run begins.
  const CheckpointInfo& begin() const noexcept { return begin_; }
  // The loader first tells of the end of the epoch before that.
  bool skip_end() const noexcept { return skip_end_; }

  // Before the tower's first step; nothing for a run that begins anew. Any thread. Throws Error
  // (kInvalidArgument) with what differs where the checkpoint is of another model.
  void Restore(Tower& tower) const;
  // No tower is to be restored any more: gives the memory back.
  void AllRestored() noexcept { stored_.reset(); }

  bool written() const noexcept { return !options_.checkpoints.empty(); }
  // Whether one is written behind this step, in the middle of an epoch.
  bool IsDue(uint64_t step) const noexcept;
  // Of the first tower of all, after VariableStrategy::Settle() of all. One thread at a time.
  void Save(CheckpointInfo at, const ScoreSums& train, Tower& tower);

 private:
  void Read(const std::string& path, const TrainerNotice& notice);

  const TrainerOptions& options_;
  std::string path_;                  // that the run goes on from
  std::optional<Checkpoint> stored_;  // what is there
  CheckpointInfo begin_;
  bool skip_end_ = false;
  std::optional<CheckpointFolder> folder_;
};

}  // namespace recpack::train
