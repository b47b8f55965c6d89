// Master copy of a training's variables; each process updates a part of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/train/collectives/collective.h"
#include "src/train/collectives/threads/first_failure.h"
#include "src/train/layers/optimizer.h"
#include "src/train/strategies/buckets.h"

namespace recpack::train {

// One object per process, in host memory. Each bucket is divided equally between the processes: a
// process sums the gradients of its part, updates it and gathers the other parts. It holds all
// values, but optimizer slots only for its parts. Not thread-safe.
class MasterCopy {
 public:
  // `processes`: collective of all processes, for host memory. `ops`: a CPU's.
  MasterCopy(const OptimizerOptions& options, std::shared_ptr<Collective> processes,
             std::unique_ptr<Ops> ops);

  // Starts with these values and zeroed slots. `variables` must outlive this object.
  void Start(const Variables& variables, std::vector<float> values,
             const std::vector<Bucket>& buckets);

  // Updates a bucket; collective over all processes. `gradients`: of all variables, in their order,
  // summed over the process's devices.
  void Update(size_t bucket, const float* gradients, const UpdateStep& step);

  // All variables, in their order.
  const std::vector<float>& values() const noexcept { return values_; }

  // Gathers the optimizer slots of all variables in the first process, where they stay until the
  // next update. Collective over all processes.
  void GatherSlots();
  // Reads gathered slots in the first process: fills `to` from element `begin` of all variables.
  void ReadSlot(size_t slot, size_t begin, std::span<float> to) const;
  // Called in every process; each keeps the values of its parts.
  void WriteSlot(size_t slot, size_t begin, std::span<const float> from);
  // Replaces all values.
  void Set(std::vector<float> values) { values_ = std::move(values); }

  // Failure shared by the process's devices. Thread-safe.
  FirstFailure& failure() noexcept { return failure_; }
  void Abort(const std::string& reason) noexcept { processes_->Abort(reason); }

 private:
  // A process's part of a bucket. All parts have equal length, except the last ones.
  struct Part {
    size_t length = 0;          // elements of each part
    size_t begin = 0, end = 0;  // this process's part, within all variables
    size_t at = 0;              // its offset in this process's slots
  };
  float* Gather(const Part& part, const float* own);
  void UpdatePart(const Bucket& bucket, const Part& part, const float* gradients,
                  const UpdateStep& step);

  const OptimizerOptions options_;
  const std::shared_ptr<Collective> processes_;
  const std::unique_ptr<Ops> ops_;
  const Variables* variables_ = nullptr;
  std::vector<Bucket> buckets_;
  std::vector<Part> parts_;  // per bucket
  std::vector<float> values_;
  std::vector<std::vector<float>> slots_;  // this process's parts, concatenated
  std::vector<std::vector<float>> whole_;  // filled by GatherSlots()
  std::vector<float> padded_;              // equal parts of all processes
  bool attached_ = false;
  FirstFailure failure_;
};

}  // namespace recpack::train
