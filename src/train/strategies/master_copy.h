// Variables of a training, updated in one copy of which each process has a part.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/train/collectives/collective.h"
#include "src/train/collectives/first_failure.h"
#include "src/train/ops/optimizer.h"
#include "src/train/strategies/buckets.h"

namespace recpack::train {

// Of one process, in the host's memory. Of each bucket the processes have equal stretches: the
// process sums the gradients of its own, updates it, and gets the others'. It has all values, and
// the optimizer's slots of its stretches alone. One thread at a time.
class MasterCopy {
 public:
  // `processes`: of all processes, for the host's memory. `ops`: of a CPU.
  MasterCopy(const OptimizerOptions& options, std::shared_ptr<Collective> processes,
             std::unique_ptr<Ops> ops);

  // Begins with these values, and with slots of 0. `variables` has to stay.
  void Start(const Variables& variables, std::vector<float> values,
             const std::vector<Bucket>& buckets);

  // An update of a bucket, of all processes at once. `gradients`: of all variables, in their order,
  // summed over this process's devices.
  void Update(size_t bucket, const float* gradients, const UpdateStep& step);

  // All variables, in their order.
  const std::vector<float>& values() const noexcept { return values_; }

  // Brings the optimizer's slots of all variables to the first process, from all at once, where
  // they stay until the next update.
  void GatherSlots();
  // From there: as many values of a slot as fit, from this element of all variables on.
  void ReadSlot(size_t slot, size_t begin, std::span<float> to) const;
  // At every process, of which each takes what it has.
  void WriteSlot(size_t slot, size_t begin, std::span<const float> from);
  // Goes on with these.
  void Set(std::vector<float> values) { values_ = std::move(values); }

  // Of its use, for the devices of the process that share it. Any thread.
  FirstFailure& failure() noexcept { return failure_; }
  void Abort(const std::string& reason) noexcept { processes_->Abort(reason); }

 private:
  // A process's stretch of a bucket; others' are as long, save for the last ones.
  struct Part {
    size_t length = 0;          // elements of each part
    size_t begin = 0, end = 0;  // of the own one, in all variables
    size_t at = 0;              // where it begins in the own slots
  };
  float* Gather(const Part& part, const float* own);
  void UpdatePart(const Bucket& bucket, const Part& part, const float* gradients,
                  const UpdateStep& step);

  const OptimizerOptions options_;
  const std::shared_ptr<Collective> processes_;
  const std::unique_ptr<Ops> ops_;
  const Variables* variables_ = nullptr;
  std::vector<Bucket> buckets_;
  std::vector<Part> parts_;  // by bucket
  std::vector<float> values_;
  std::vector<std::vector<float>> slots_;  // the own parts, one behind the other
  std::vector<std::vector<float>> whole_;  // as GatherSlots() brought them
  std::vector<float> padded_;              // equal parts of all processes
  bool attached_ = false;
  FirstFailure failure_;
};

}  // namespace recpack::train
