// Every device holds all variables; gradients are added up over the devices.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "recpack/train/collective.h"
#include "src/train/bucket_queue.h"
#include "src/train/own_variables.h"

namespace recpack {

// Gradients are summed in buckets by a thread of its own, while the backward pass goes on; each
// device then makes the same update.
class Replicated final : public OwnVariables {
 public:
  // `collective`: of all devices, in the host's memory.
  Replicated(const OptimizerOptions& options, std::unique_ptr<Collective> collective,
             size_t bucket_elements);

  void Start(Ops& ops, Variables& variables) override;
  void BeginStep(const UpdateStep& step) override;
  void Need(size_t) override {}
  void Ready(size_t variable) override { queue_->Ready(variable); }
  void EndStep() override;
  void Settle() override {}
  void Abort(const std::string& reason) noexcept override { collective_->Abort(reason); }

 private:
  void Share(float* values, size_t count);

  const std::unique_ptr<Collective> collective_;
  const size_t bucket_elements_;
  std::optional<BucketQueue> queue_;
};

}  // namespace recpack
