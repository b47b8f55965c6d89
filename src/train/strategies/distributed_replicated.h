// Every device holds all variables, which are updated in a master copy over the processes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/train/collectives/collective.h"
#include "src/train/strategies/bucket_queue.h"
#include "src/train/strategies/master_copy.h"

namespace recpack::train {

// Gradients are summed over the devices of a process in buckets, those of processes part by part;
// the parts are updated and come back, while the backward pass goes on. Devices copy what is new
// when the step ends.
class DistributedReplicated final : public VariableStrategy {
 public:
  // `master`: of this process, used by its first device. `local`: of its devices, in the host's
  // memory. `repeats`: what a step is up to the sums is the same work each time.
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
