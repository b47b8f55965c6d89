// Plan of a loader: its schedule, its writers and the layout of a batch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "recpack/loader/loader.h"
#include "recpack/loader/token.h"
#include "src/loader/batch/batch_worker.h"
#include "src/loader/batch/sample_cache.h"
#include "src/loader/fields/field_writer.h"
#include "src/loader/run/schedule.h"

namespace recpack {

inline constexpr size_t kArrayAlignment = 64;
inline constexpr size_t AlignedArray(size_t bytes) {
  return (bytes + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

// State shared by all workers of a loader. Immutable except for the members marked thread-safe.
struct LoaderPlan {
  // `options` must be resolved (ResolveOptions()). Throws Error (kInvalidArgument) for invalid
  // fields, batch steps and caches.
  LoaderPlan(const Mixture& samples, const LoaderOptions& options, const ResumeToken& token);

  const Mixture mixture;
  const LoaderOptions options;
  const Schedule schedule;
  const uint32_t chunk_samples;
  const uint32_t chunks;              // per batch
  std::vector<FieldWriters> writers;  // one for all views, or one per view
  std::shared_ptr<const std::vector<ArraySpec>> arrays;
  bool has_ragged = false;
  uint64_t sample_bytes = 0;  // sum over the arrays
  uint64_t thrown_bytes = 0;  // the same, with each array aligned to kArrayAlignment
  size_t slab_bytes = 0;      // of a batch
  std::vector<std::unique_ptr<BatchWorker>> batch_workers;
  std::unique_ptr<SampleCache> cache = nullptr;  // null: none; thread-safe

  std::atomic<uint64_t> next_chunk = 0;  // thread-safe
  // The next chunk to announce, of data in an object store; thread-safe.
  std::atomic<uint64_t> next_advice = 0;
  std::atomic<uint64_t> thrown = 0;  // chunks; thread-safe

 private:
  void RefuseOtherArrays(size_t view) const;
  void Add(ArraySpec array, std::vector<ArraySpec>& arrays);
};

}  // namespace recpack
