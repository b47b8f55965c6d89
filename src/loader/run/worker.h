// Worker thread of a loader: takes chunks of batches and fills them sample by sample.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recpack/example/view.h"
#include "recpack/loader/loader.h"
#include "src/loader/batch/ring.h"
#include "src/loader/batch/stage_clock.h"
#include "src/loader/fields/field_writer.h"
#include "src/loader/order/sampler.h"
#include "src/loader/run/advisor.h"
#include "src/loader/run/batch_substitutions.h"
#include "src/loader/run/loader_plan.h"

namespace recpack {

class Worker {
 public:
  // `block`, `plan` and `ring` must outlive the worker. Shares resources with `other`, which may be
  // null.
  Worker(LoaderPlan& plan, Ring& ring, WorkerBlock& block, const Worker* other);

  // Runs until the ring stops. Does not throw: failures go to the ring.
  void Run();

  // Thread-safe. Returns the place of the current or last record.
  Place PlaceNow() const;

  // Thread-safe.
  const CacheCounts& cache_counts() const noexcept { return cache_counts_; }

  // Thread-safe. Removes and returns the substitutions of the batch.
  std::vector<Substitution> TakeSubstitutions(uint64_t batch) { return substitutions_.Take(batch); }

 private:
  std::vector<std::unique_ptr<SampleSource>> OpenSources(const Worker* other);
  void FillChunk(uint64_t batch, uint32_t chunk);
  static void Audit(RingSlot& slot, uint32_t begin, uint32_t end);
  void FinishBatch(uint64_t batch);
  void FillSample(uint64_t batch, const BatchPlan& at, uint32_t sample);
  Place FindPlace(const SampledRecord& record) const;
  void ThrowChunkAway(uint64_t ticket);
  void Write(const SampledRecord& record, uint64_t position);

  LoaderPlan& plan_;
  Ring& ring_;
  WorkerBlock& block_;
  StageClock clock_;
  Sampler sampler_;
  CacheCounts cache_counts_;
  const std::vector<std::unique_ptr<SampleSource>> sources_;  // by view
  Advisor advisor_;
  ByteBuffer record_;
  ExampleView example_;
  SampleTools tools_;
  std::vector<uint8_t*> out_;  // per array: destination of Write()
  ByteBuffer thrown_;          // a discarded sample
  uint64_t epoch_ = 0;
  uint64_t epoch_seed_ = 0;
  BatchSubstitutions substitutions_;
};

}  // namespace recpack
