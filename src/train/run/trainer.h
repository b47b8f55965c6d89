// Trains a model on one or several devices, fed by one loader.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/loader/audit.h"
#include "src/train/layers/transfer.h"
#include "src/train/setup/step_timing.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Mean results over the samples of an epoch, or of some steps.
struct Score {
  double loss = 0;      // mean; for deepconn the mean squared error
  double accuracy = 0;  // fraction; 0 for deepconn, which predicts a number
  uint64_t samples = 0;
};

struct EpochReport {
  uint64_t epoch = 0;
  int64_t steps = 0;  // since the training began
  Score train;
  Score evaluation;  // samples: 0 if there was no evaluation
  double train_seconds = 0;
  double evaluation_seconds = 0;
  double input_wait_seconds = 0;  // during training; mean over devices
  // time that devices waited for variables or gradients; mean over devices
  double exchange_wait_seconds = 0;
  uint64_t exchange_calls = 0;  // over all devices, like all sums and means here
  uint64_t exchange_bytes = 0;
  // For the samples trained on. Unset if an earlier run began the epoch without an audit, for
  // repeated batches and for simulated devices.
  std::optional<AuditReport> audit = {};
  TransferAccount transfers;  // between the devices of one model, during training
};

// Runs a training from start to end. Throws Error: errors of the loader and of devices;
// kInvalidArgument for invalid options, for labels or tokens out of range, and for NaN or infinite
// losses, with the step, the layer (in the state after the dispatch's later steps) and the token of
// the step's batch. If one of several processes fails, all others throw Error with its rank and its
// reason.
class Trainer {
 public:
  explicit Trainer(TrainerOptions options, const TrainerNotice& notice = {});
  ~Trainer();

  // Calls `report` after each epoch, from one thread; with several processes, only in the first.
  void Run(const std::function<void(const EpochReport&)>& report);

  std::string Describe() const;  // describes this process's devices
  // Mean loss over all devices for each step of this run, in order.
  const std::vector<double>& losses() const noexcept;
  // In the order of TrainerOptions::timing; empty until the run has ended.
  const std::vector<StepTiming>& timings() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::train
