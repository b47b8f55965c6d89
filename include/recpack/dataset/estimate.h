// How long a pack would take, from a short trial.
#pragma once

#include <cstdint>

#include "recpack/dataset/pack.h"

namespace recpack {

struct PackEstimate {
  double seconds =
      0;  // to read and encode everything on the options' threads; writing not included
  uint64_t tried = 0;      // items that were read for it
  double bytes_ratio = 1;  // bytes of those records by the bytes that were planned for them
};

// Reads and encodes items spread over the plan, for about `trial_seconds`, on one thread, writes
// nothing, and scales up by planned bytes. Bad items are passed over.
PackEstimate EstimatePack(const Source& source, const Plan& plan, const PackOptions& options,
                          double trial_seconds = 0.3);

}  // namespace recpack
