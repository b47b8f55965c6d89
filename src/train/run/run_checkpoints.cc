#include "src/train/run/run_checkpoints.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/loader/token.h"
#include "src/base/format.h"
#include "src/train/checkpoint/checkpoint.h"
#include "src/train/checkpoint/training_state.h"
#include "src/train/layers/optimizer.h"

namespace recpack::train {
namespace {

// Another optimizer has other arrays.
void CheckOptimizer(const std::vector<NamedArray>& arrays, const OptimizerOptions& options,
                    const std::string& path) {
  const auto keeps = [&](const OptimizerOptions& optimizer) {
    return std::any_of(arrays.begin(), arrays.end(), [&](const NamedArray& array) {
      return array.name.starts_with(kOptimizerPrefix + SlotNames(optimizer).front() + "/");
    });
  };
  if (keeps(options)) return;
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
    if (!keeps({.kind = kind})) continue;
    throw Error(ErrorKind::kInvalidArgument,
                format("is a checkpoint of a training by {}, not by {}", OptimizerName(kind),
                       OptimizerName(*options.kind)),
                {.path = path}, format("give --optimizer {}", OptimizerName(kind)));
  }
}

// A step with a finite loss may still leave NaN or infinite variables, which no run can continue
// from.
void CheckFinite(const std::vector<NamedArray>& arrays, uint64_t step, const std::string& folder) {
  for (const NamedArray& array : arrays) {
    const auto* const values = static_cast<const float*>(array.data);
    if (std::all_of(values, values + Elements(array.shape),
                    [](float value) { return std::isfinite(value); })) {
      continue;
    }
    throw Error(ErrorKind::kInvalidArgument,
                format("step {} is not saved: '{}' is NaN or infinite after it", step, array.name),
                {.path = folder}, "lower the learning rate; earlier checkpoints are unchanged");
  }
}

}  // namespace

RunCheckpoints::RunCheckpoints(const TrainerOptions& options, const ProcessWorld& world,
                               const TrainerNotice& notice)
    : options_(options) {
  if (!options.resume.empty()) {
    const auto choose = [&] {
      return ChooseCheckpoint(PosixFiles(), options.resume, notice, "begin without resuming");
    };
    Read(world.FromFirst(choose), notice);
  }
  if (!written()) return;
  if (options.input != InputKind::kReal) {
    throw Error(ErrorKind::kInvalidArgument,
                "a training on repeated batches cannot write checkpoints");
  }
  if (world.rank() > 0) return;
  folder_.emplace(PosixFiles(), options.checkpoints,
                  CheckpointFolderOptions{.keep = options.keep_checkpoints});
  const auto last = folder_->LastStep();
  if (!notice || !last || *last <= begin_.step) return;
  notice(format(
      "{} has checkpoints of later steps, up to {}, which --resume takes if this run ends before "
      "those: move them away, or name another folder",
      options.checkpoints, *last));
}

void RunCheckpoints::Read(const std::string& path, const TrainerNotice& notice) {
  path_ = path;
  stored_ = ReadCheckpoint(PosixFiles(), path_);
  begin_ = stored_->info;
  if (begin_.seed != options_.seed) {
    throw Error(ErrorKind::kInvalidArgument,
                format("the checkpoint was made with seed {}, not {}", begin_.seed, options_.seed),
                {.path = path_}, "give the same seed");
  }
  skip_end_ = ParseToken(begin_.loader_token).epoch < begin_.epoch;
  if (notice) notice(format("resuming from {}, step {}", path_, begin_.step));
}

void RunCheckpoints::Restore(Tower& tower) const {
  if (!stored_) return;
  const TrainingState fitting(tower.model().variables(), SlotNames(options_.optimizer));
  const CheckpointTarget target{.model = tower.model().name(),
                                .model_options = tower.model().options(),
                                .arrays = fitting.arrays()};
  CheckModel(stored_->info, target, path_);
  CheckOptimizer(stored_->stored.arrays, options_.optimizer, path_);
  TrainingState::Write(FittingArrays(stored_->stored, target, path_), tower.model().variables(),
                       tower.strategy());
}

bool RunCheckpoints::IsDue(uint64_t step) const noexcept {
  const auto every = static_cast<uint64_t>(options_.checkpoint_steps);
  return written() && options_.checkpoint_steps > 0 && step % every == 0;
}

void RunCheckpoints::Save(CheckpointInfo at, const ScoreSums& train, Tower& tower) {
  at.model = tower.model().name();
  at.model_options = tower.model().options();
  if (options_.model != "deepconn") at.eval_recipe = options_.pictures.eval_recipe;
  at.seed = options_.seed;
  at.sums = {{"loss", train.loss},
             {"correct", static_cast<double>(train.correct)},
             {"samples", static_cast<double>(train.samples)}};
  TrainingState state(tower.model().variables(), SlotNames(options_.optimizer));
  state.Read(tower.model().variables(), tower.strategy());
  CheckFinite(state.arrays(), at.step, options_.checkpoints);
  folder_->Save(at, state.arrays());
}

}  // namespace recpack::train
