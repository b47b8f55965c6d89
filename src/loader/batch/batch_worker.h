// One step of a whole batch, ready to run.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/batch_step.h"
#include "src/loader/data/streams.h"

namespace recpack {

// Immutable; any number of threads, each with a batch of its own.
class BatchWorker {
 public:
  virtual ~BatchWorker() = default;

  // That it adds, without offsets.
  virtual std::vector<ArraySpec> Arrays() const = 0;

  virtual uint32_t stream() const = 0;

  // Throws what goes wrong.
  virtual void Work(BatchView& batch) const = 0;
};

// `arrays`: those there are before. Throws Error (kInvalidArgument) for a step that makes no sense.
std::unique_ptr<BatchWorker> MakeBatchWorker(const BatchStep& step,
                                             const std::vector<ArraySpec>& arrays);
std::unique_ptr<BatchWorker> MakeMixer(const MixImages& mix, const std::vector<ArraySpec>& arrays);

// `what` says whose arrays they are. Fills in sample_bytes; throws as above.
std::vector<ArraySpec> DeclaredArrays(std::vector<ArraySpec> arrays, const char* what);

// The array, or Error (kInvalidArgument) that lists those there are.
const ArraySpec& FindArray(const std::vector<ArraySpec>& arrays, const std::string& name);

// Throws Error (kInvalidArgument) for a stream that there is none of.
uint32_t FunctionStream(RandomStream family, uint32_t number);

}  // namespace recpack
