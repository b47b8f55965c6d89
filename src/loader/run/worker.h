// Worker thread of a loader: takes chunks of batches and fills them sample by sample.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recpack/example/view.h"
#include "recpack/loader/loader.h"
#include "src/loader/batch/ring.h"
#include "src/loader/batch/stage_clock.h"
#include "src/loader/fields/field_writer.h"
#include "src/loader/order/sampler.h"
#include "src/loader/run/loader_plan.h"
#include "src/loader/run/read_ahead.h"

namespace recpack {

// A substitution and the number of its batch.
struct BatchSubstitution {
  uint64_t batch;
  Substitution what;
};

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
  std::vector<Substitution> TakeSubstitutions(uint64_t batch);

 private:
  void OpenSources(const Worker* other);
  void FillChunk(uint64_t batch, uint32_t chunk);
  static void Audit(RingSlot& slot, uint32_t begin, uint32_t end);
  void Advise(uint64_t chunk);
  void FinishBatch(uint64_t batch);
  void WorkOn(const RingSlot& slot, const BatchPlan& at);
  void FillSample(uint64_t batch, const BatchPlan& at, uint32_t sample);
  Place FindPlace(const SampledRecord& record) const;
  void ThrowChunkAway(uint64_t ticket);
  void Write(const SampledRecord& record, uint64_t position);

  LoaderPlan& plan_;
  Ring& ring_;
  const WorkerBlock& block_;
  StageClock clock_;
  Sampler sampler_;
  const ReadAhead read_ahead_;
  CacheCounts cache_counts_;
  std::vector<std::unique_ptr<SampleSource>> sources_;  // by view
  ByteBuffer record_;
  ExampleView example_;
  SampleTools tools_;
  std::vector<uint8_t*> out_;               // per array: destination of Write()
  ByteBuffer thrown_;                       // a discarded sample
  std::vector<std::vector<uint64_t>> ids_;  // to be read soon, per view
  uint32_t unprobed_ = 0;                   // chunks left to skip without probing
  uint32_t probes_held_ = 0;                // consecutive probes that found everything in memory
  uint64_t epoch_ = 0;
  uint64_t epoch_seed_ = 0;

  std::mutex substitutions_mutex_;
  std::vector<BatchSubstitution> substitutions_;
};

}  // namespace recpack
