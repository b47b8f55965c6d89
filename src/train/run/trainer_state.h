// What a training is made of, and what each of its towers does.
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
#include "src/train/run/dispatch.h"
#include "src/train/run/epoch_sums.h"
#include "src/train/run/run_audit.h"
#include "src/train/run/run_checkpoints.h"
#include "src/train/run/schedule.h"
#include "src/train/run/tower.h"
#include "src/train/run/tower_input.h"
#include "src/train/run/trainer.h"
#include "src/train/setup/gradient_sums.h"
#include "src/train/setup/model_placement.h"
#include "src/train/setup/process_world.h"

namespace recpack::train {

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
  // Of the towers: barriers and sums, and batch statistics.
  std::vector<std::unique_ptr<Collective>> control, norms;
  LearningRate rate;
  int64_t last_step = 0;  // that the run ends behind: the rate's, or TrainerOptions::max_steps
  std::function<void(const EpochReport&)> report;
  std::vector<double> losses;  // of whole steps
  std::vector<StepTiming> timings;

  std::mutex mutex;  // of what follows
  std::exception_ptr failure;

  std::string NameOfTower(size_t index) const;
  void Build(size_t index);
  void RunTower(size_t index) noexcept;
  // From `at` on, which goes along.
  void TrainAndEvaluate(size_t index, CheckpointInfo& at);
  // Goes on to the end of the epoch, or of the training. Whether the epoch is over.
  bool TrainEpoch(size_t index, CheckpointInfo& at, TowerInput& input, TowerEpoch& epoch,
                  RunAudit& audit);
  // VariableStrategy::Settle(), of all towers at once. No step comes until all have.
  void Settle(size_t index);
  // In the epoch behind the batch of this token.
  bool HasStepsLeft(const std::string& token) const;
  // Of all towers at once, which have settled.
  void Save(size_t index, CheckpointInfo at, const ScoreSums& train, const RunAudit& audit);
  // Throws where the step's numbers are none.
  void CheckStep(size_t index, const StepResult& result);
  ScoreSums EvaluateAll(size_t index);
  // `step`: how many were made before.
  void TimeInputs(size_t index, uint64_t step);
  void Fail(size_t index, const std::string& reason) noexcept;
};

}  // namespace recpack::train
