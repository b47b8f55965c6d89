// Data-parallel strategy: each device holds all variables, and gradients are all-reduced.
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

// Makes this rank's part of a collective over device memory, for the same ranks as `host`.
using OnDevices = std::function<std::unique_ptr<Collective>(std::shared_ptr<Collective> host)>;

// A background thread sums gradients in buckets during the backward pass; then each device makes
// the same update.
class Replicated final : public OwnVariables {
 public:
  // `host`: collective of all devices, in host memory. `on_devices`: called on the threads of all
  // devices or of none; empty: gradients are summed in host memory. `repeats`: each step enqueues
  // the same work before and after the sums, with rates in device memory.
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
  // The device collective learns of the abort from the host collective.
  void Abort(const std::string& reason) noexcept override { host_->Abort(reason); }

 private:
  // Copies the first device's values to all devices.
  void Share(float* values, size_t count);
  void Sum(size_t bucket);

  const std::shared_ptr<Collective> host_;
  const size_t bucket_elements_;
  const bool repeats_;
  const OnDevices make_on_devices_;
  Ops* ops_ = nullptr;
  std::unique_ptr<Collective> on_devices_;  // null: the host collective sums
  std::optional<BucketQueue> queue_;
  std::optional<RepeatedWork> update_;
};

}  // namespace recpack::train
