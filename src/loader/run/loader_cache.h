// A loader's cache: creates it, and reads samples through it.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/field.h"
#include "recpack/loader/mixture.h"
#include "recpack/loader/sample_source.h"
#include "src/loader/batch/sample_cache.h"

namespace recpack {

// Returns null if no cache is wanted. `fields`: of all views, or a list per view. Throws Error
// (kInvalidArgument) for a kind without a budget or a budget without a kind, if images are to be
// cached but no field has cacheable images, and if the system refuses to reserve the budget.
std::unique_ptr<SampleCache> MakeSampleCache(const CacheOptions& options, const Mixture& samples,
                                             const std::vector<std::vector<Field>>& fields);

// Returns a source that reads through the cache. `source` reads a view of the mixture. `cache` and
// `counts`, which belong to the source's thread, must outlive the result. Its ForAnotherThread()
// returns another of `source` alone, to be wrapped with the other thread's counts.
std::unique_ptr<SampleSource> MakeCachedSource(std::unique_ptr<SampleSource> source, uint32_t view,
                                               SampleCache& cache, CacheCounts& counts);

}  // namespace recpack
