// Loads a checkpoint's model on a device, for evaluation.
#pragma once

#include <memory>
#include <string>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/run/tower.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

class TraceOps;

// Sets the model in `options` from a checkpoint, builds it on their first device and loads the
// variables. Used on the thread that made it.
class EvaluatedModel {
 public:
  // Throws like Evaluator's constructor.
  EvaluatedModel(const std::string& path, TrainerOptions& options);

  const CheckpointInfo& checkpoint() const noexcept { return info_; }
  Tower& tower() noexcept { return *tower_; }
  TraceOps& ops() const noexcept { return *ops_; }  // the tower's

 private:
  CheckpointInfo info_;
  TraceOps* ops_ = nullptr;
  std::unique_ptr<Tower> tower_;
};

}  // namespace recpack::train
