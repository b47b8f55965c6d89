// How long a pack would take, from a short trial.
#pragma once

#include <cstdint>

#include "src/pack/job/pack.h"

namespace recpack::pack {

struct PackEstimate {
  // To read, encode, checksum and compress everything on the options' threads, at the speed that
  // SRC is read at just now. Not included: finding and listing the items, which is done by then;
  // writing the shards and syncing them, which take as long as the disk does.
  double seconds = 0;
  uint64_t tried = 0;      // items that were read for it
  double bytes_ratio = 1;  // bytes of a shard of them by the bytes that were planned for it
};

// Makes records of items spread over the plan, for about `trial_seconds`, on one thread, writes
// them nowhere, and scales up by planned bytes. Bad items are passed over.
PackEstimate EstimatePack(const Source& source, const Plan& plan, const PackOptions& options,
                          double trial_seconds = 0.3);

}  // namespace recpack::pack
