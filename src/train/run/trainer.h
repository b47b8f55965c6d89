// A training: a model on one or several devices, fed by one loader.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/loader/audit.h"
#include "src/train/ops/transfer.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Over the samples of an epoch, or of some steps.
struct Score {
  double loss = 0;      // mean; of deepconn the mean squared error
  double accuracy = 0;  // share; 0 of deepconn, which predicts a number
  uint64_t samples = 0;
};

struct EpochReport {
  uint64_t epoch = 0;
  int64_t steps = 0;  // since the training began
  Score train;
  Score evaluation;  // samples: 0 where there was none
  double train_seconds = 0;
  double evaluation_seconds = 0;
  double input_wait_seconds = 0;     // of the training, mean over devices
  double exchange_wait_seconds = 0;  // that devices stood still for variables or gradients; mean
  uint64_t exchange_calls = 0;       // of all devices, as are these sums and means
  uint64_t exchange_bytes = 0;
  // Of the samples that were trained on. Nothing where the epoch was begun by a run that kept none,
  // on repeated batches and on simulated devices.
  std::optional<AuditReport> audit = {};
  TransferAccount transfers;  // between the devices of one model, in the training
};

// Runs to its end. Throws Error: what the loader or a device threw; kInvalidArgument for options
// that make no sense, labels or tokens that are out of range, and numbers that became infinite,
// with the step, the layer (as later steps of its dispatch left it) and the token of the step's
// batch. Where one of several processes fails, all others throw Error with its rank and its reason.
class Trainer {
 public:
  explicit Trainer(TrainerOptions options, const TrainerNotice& notice = {});
  ~Trainer();

  // `report` is called after each epoch, by one thread, of several processes in the first alone.
  void Run(const std::function<void(const EpochReport&)>& report);

  std::string Describe() const;  // this process's devices
  // Mean loss over all devices of each step that this run has made, in order.
  const std::vector<double>& losses() const noexcept;
  // In the order of TrainerOptions::timing; empty before the run has ended.
  const std::vector<StepTiming>& timings() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::train
