// Strategy with a replica of all variables per device, and updates in a master copy per process.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/train/collectives/collective.h"
#include "src/train/strategies/bucket_queue.h"
#include "src/train/strategies/master_copy.h"

namespace recpack::train {

// During the backward pass, gradients are summed in buckets over the devices of a process, then
// between processes part by part, and the updated parts are gathered. Devices copy the new values
// at the end of the step.
class DistributedReplicated final : public VariableStrategy {
 public:
  // `master`: of this process, used by its first device. `local`: collective of the process's
  // devices, in host memory. `repeats`: each step enqueues the same work up to the sums.
  DistributedReplicated(std::shared_ptr<MasterCopy> master, std::unique_ptr<Collective> local,
                        size_t bucket_elements, bool repeats);

  int slots() const override { return 0; }
  bool Repeats() const override { return repeats_; }
  void Start(Ops& ops, Variables& variables) override;
  void BeginStep(const UpdateStep& step) override;
  void Need(size_t) override {}
  void BeginBackward(size_t) override { queue_->BeginBackward(); }
  void Ready(size_t variable) override { queue_->Ready(variable); }
  void EndStep() override;
  void Settle() override;
  void ReadSlot(size_t slot, size_t variable, float* to) override;
  void WriteSlot(size_t slot, size_t variable, const float* from) override;
  void VariablesSet() override;
  void Abort(const std::string& reason) noexcept override;

 private:
  bool first() const noexcept { return local_->rank() == 0; }
  std::vector<float> Values() const;
  void Exchange(size_t bucket);

  const std::shared_ptr<MasterCopy> master_;
  const std::unique_ptr<Collective> local_;
  const size_t bucket_elements_;
  const bool repeats_;
  Ops* ops_ = nullptr;
  Variables* variables_ = nullptr;
  UpdateStep step_;
  std::optional<BucketQueue> queue_;
};

}  // namespace recpack::train
