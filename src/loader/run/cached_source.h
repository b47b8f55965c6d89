// Records of a source, but for those that the cache has.
#pragma once

#include <memory>

#include "recpack/loader/sample_source.h"
#include "src/loader/batch/sample_cache.h"

namespace recpack {

// `source` is that of a view of the mixture. `cache` and `counts`, those of the source's thread,
// outlive it. Its ForAnotherThread() is of `source` alone, for the other's counts.
std::unique_ptr<SampleSource> CachedSource(std::unique_ptr<SampleSource> source, uint32_t view,
                                           SampleCache& cache, CacheCounts& counts);

}  // namespace recpack
