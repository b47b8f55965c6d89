// A loader's cache.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/field.h"
#include "recpack/loader/mixture.h"
#include "src/loader/batch/sample_cache.h"

namespace recpack {

// Null: none. Throws Error (kInvalidArgument) for a kind without a budget or a budget without a
// kind, for pictures where no field has any that may be kept, and for a budget that the system does
// not reserve.
std::unique_ptr<SampleCache> MakeSampleCache(const CacheOptions& options, const Mixture& samples,
                                             const std::vector<Field>& fields);

}  // namespace recpack
