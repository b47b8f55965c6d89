// Estimates the time of a pack from a short trial.
#pragma once

#include <cstdint>

#include "src/pack/job/pack.h"

namespace recpack::pack {

struct PackEstimate {
  // Time to read, encode, checksum and compress everything with the options' threads, at the
  // current read speed of the source. Does not include finding and listing the items, which is
  // already done, nor writing and syncing the shards, which depends on the disk.
  double seconds = 0;
  uint64_t tried = 0;      // items read in the trial
  double bytes_ratio = 1;  // measured shard bytes per planned byte
};

// Reads and encodes items spread over the plan on one thread for about `trial_seconds`, discards
// the records, and scales the time up by planned bytes. Skips bad items.
PackEstimate EstimatePack(const Source& source, const Plan& plan, const PackOptions& options,
                          double trial_seconds = 0.3);

}  // namespace recpack::pack
