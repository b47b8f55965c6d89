// Executable form of a BatchStep.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/batch_step.h"
#include "src/loader/data/streams.h"

namespace recpack {

// Immutable and thread-safe; each thread works on its own batch.
class BatchWorker {
 public:
  virtual ~BatchWorker() = default;

  // The arrays that the step adds, without offsets.
  virtual std::vector<ArraySpec> Arrays() const = 0;

  virtual uint32_t stream() const = 0;

  // Throws if the step fails.
  virtual void Work(BatchView& batch) const = 0;
};

// `arrays`: existing arrays of the batch. Throws Error (kInvalidArgument) for an invalid step.
std::unique_ptr<BatchWorker> MakeBatchWorker(const BatchStep& step,
                                             const std::vector<ArraySpec>& arrays);
std::unique_ptr<BatchWorker> MakeMixer(const MixImages& mix, const std::vector<ArraySpec>& arrays);

// Checks declared arrays, fills in sample_bytes, and adds the offsets of ragged ones behind them.
// `what` names their owner in messages. Throws Error (kInvalidArgument).
std::vector<ArraySpec> DeclaredArrays(const std::vector<ArraySpec>& given, const char* what);

// Returns the array. Throws Error (kInvalidArgument) that lists the arrays if it is missing.
const ArraySpec& FindArray(const std::vector<ArraySpec>& arrays, const std::string& name);

// Returns the random stream of a user's stream number. Throws Error (kInvalidArgument) if the
// number is too large.
uint32_t FunctionStream(RandomStream family, uint32_t number);

}  // namespace recpack
