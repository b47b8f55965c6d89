// Every device holds all variables; gradients are added up over the devices.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "recpack/train/collective.h"
#include "src/train/buckets.h"
#include "src/train/own_variables.h"

namespace recpack {

// Gradients are summed in buckets by a thread of its own, while the backward pass goes on; each
// device then makes the same update.
class Replicated final : public OwnVariables {
 public:
  // `collective`: of all devices, in the host's memory.
  Replicated(const OptimizerOptions& options, std::unique_ptr<Collective> collective,
             size_t bucket_elements);
  ~Replicated() override;

  void Start(Ops& ops, Variables& variables) override;
  void BeginStep(double rate) override;
  void Need(size_t) override {}
  void Ready(size_t variable) override;
  void EndStep() override;
  void Settle() override {}
  void Abort(const std::string& reason) noexcept override { collective_->Abort(reason); }

 private:
  void SumBuckets();
  void Share(float* values, size_t count);

  const std::unique_ptr<Collective> collective_;
  const size_t bucket_elements_;
  std::vector<Bucket> buckets_;
  std::vector<size_t> bucket_of_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> missing_;  // by bucket: variables without a gradient in this step
  size_t summed_ = 0;            // buckets of this step
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace recpack
