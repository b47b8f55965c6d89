// Every device holds all variables; gradients are added up over the devices.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "recpack/train/collective.h"
#include "src/train/buckets.h"
#include "src/train/optimizer.h"

namespace recpack {

// Gradients are summed in buckets by a thread of its own, while the backward pass goes on; each
// device then makes the same update.
class Replicated final : public VariableStrategy {
 public:
  // `collective`: of all devices, in the host's memory; outlives this.
  Replicated(const OptimizerOptions& options, Collective& collective, size_t bucket_elements);
  ~Replicated() override;

  int slots() const override { return 1; }
  void Start(Ops& ops, Variables& variables) override;
  void BeginStep() override;
  void Ready(size_t variable) override;
  void EndStep(double rate) override;
  void Settle() override {}

 private:
  void SumBuckets();

  const OptimizerOptions options_;
  Collective& collective_;
  const size_t bucket_elements_;
  Ops* ops_ = nullptr;
  Variables* variables_ = nullptr;
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
