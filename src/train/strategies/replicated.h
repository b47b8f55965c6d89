// Every device holds all variables; gradients are added up over the devices.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/train/collectives/collective.h"
#include "src/train/ops/repeated_work.h"
#include "src/train/strategies/bucket_queue.h"
#include "src/train/strategies/own_variables.h"

namespace recpack::train {

// Makes this rank's part in the collective of the same ranks for their devices' memory.
using OnDevices = std::function<std::unique_ptr<Collective>(std::shared_ptr<Collective> host)>;

// Gradients are summed in buckets by a thread of its own, while the backward pass goes on; each
// device then makes the same update.
class Replicated final : public OwnVariables {
 public:
  // `host`: of all devices, in the host's memory. `on_devices`: called by the devices' threads, of
  // all or of none; empty: gradients are summed in the host's memory. `repeats`: what a step is
  // before the sums and behind them is the same work each time, by rates in the device's memory.
  Replicated(const OptimizerOptions& options, std::shared_ptr<Collective> host,
             size_t bucket_elements, bool repeats, OnDevices on_devices = {});

  bool Repeats() const override { return repeats_; }
  void Start(Ops& ops, Variables& variables) override;
  void BeginStep(const UpdateStep& step) override;
  void Need(size_t) override {}
  void BeginBackward(size_t) override { queue_->BeginBackward(); }
  void Ready(size_t variable) override { queue_->Ready(variable); }
  void EndStep() override;
  void Settle() override {}
  void Check() override { (on_devices_ ? *on_devices_ : *host_).Check(); }
  void End() noexcept override;
  // What is on devices learns of it from the host's.
  void Abort(const std::string& reason) noexcept override { host_->Abort(reason); }

 private:
  // Those of the first device, for all.
  void Share(float* values, size_t count);
  void Sum(size_t bucket);

  const std::shared_ptr<Collective> host_;
  const size_t bucket_elements_;
  const bool repeats_;
  const OnDevices make_on_devices_;
  Ops* ops_ = nullptr;
  std::unique_ptr<Collective> on_devices_;  // null: sums are the host's
  std::optional<BucketQueue> queue_;
  std::optional<RepeatedWork> update_;
};

}  // namespace recpack::train
