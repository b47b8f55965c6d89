// State of a training and the work of its towers' threads.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/collectives/collective.h"
#include "src/train/layers/optimizer.h"
#include "src/train/run/dispatch.h"
#include "src/train/run/epoch_sums.h"
#include "src/train/run/run_audit.h"
#include "src/train/run/run_checkpoints.h"
#include "src/train/run/tower.h"
#include "src/train/run/tower_input.h"
#include "src/train/run/trainer.h"
#include "src/train/setup/model_placement.h"
#include "src/train/words/word_vectors.h"
#include "src/train/world/gradient_sums.h"
#include "src/train/world/process_world.h"

namespace recpack::train {

// Number of epochs over which the learning rate goes down.
uint64_t ScheduleEpochs(const TrainerOptions& options);

struct Trainer::State {
  State(std::shared_ptr<const ProcessWorld> of_all, TrainerOptions complete, TrainerNotice tell);

  const TrainerNotice notice;
  const std::shared_ptr<const ProcessWorld> world;
  const ModelPlacement placement;
  const TrainerOptions options;
  const bool simulated;
  GradientSums gradient_sums;
  std::optional<RunCheckpoints> checkpoints;
  std::unique_ptr<DeviceFeeder> feeder, eval_feeder;
  std::vector<std::unique_ptr<Tower>> towers;
  std::unique_ptr<WordVectors> word_vectors;  // of all towers, until they are built
  // Collectives of the towers: barriers and sums, and batch statistics.
  std::vector<std::unique_ptr<Collective>> control, norms;
  LearningRate rate;
  // the run ends after it: the last step of its epochs, or TrainerOptions::max_steps
  int64_t last_step = 0;
  // added to the number of steps to get the step of this run's schedule
  int64_t steps_behind = 0;
  std::function<void(const EpochReport&)> report;
  std::vector<double> losses;  // of whole steps
  std::vector<StepTiming> timings;

  std::mutex mutex;  // guards the members below
  std::exception_ptr failure;

  int64_t StepsBehind() const;
  std::string NameOfTower(size_t index) const;
  void Build(size_t index);
  void RunTower(size_t index) noexcept;
  // Starts at `at` and advances it.
  void TrainAndEvaluate(size_t index, CheckpointInfo& at);
  // Continues to the end of the epoch or of the training. Returns true at the end of the epoch.
  bool TrainEpoch(size_t index, CheckpointInfo& at, TowerInput& input, TowerEpoch& epoch,
                  RunAudit& audit);
  // VariableStrategy::Settle() on all towers. Collective: no step starts until all have settled.
  void Settle(size_t index);
  // Tells whether steps remain in the epoch after the batch with this token.
  bool HasStepsLeft(const std::string& token) const;
  // Collective over all towers, after Settle().
  void Save(size_t index, CheckpointInfo at, const ScoreSums& train, const RunAudit& audit);
  // Throws if the step's loss is NaN or infinite.
  void CheckStep(size_t index, const StepResult& result);
  ScoreSums EvaluateAll(size_t index);
  // `step`: number of steps made before.
  void TimeInputs(size_t index, uint64_t step);
  void Fail(size_t index, const std::string& reason) noexcept;
};

}  // namespace recpack::train
