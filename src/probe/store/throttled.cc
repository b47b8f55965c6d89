#include "src/base/format.h"
#include "src/probe/store/store_rules.h"

namespace recpack::probe {

bool StoreThrottles(const StoreWork& work, Cause& cause) {
  const double waits = work.Waits(StoreWait::kThrottled);
  if (work.all.throttled == 0 || waits < work.Waits(StoreWait::kFirstByte) ||
      waits < work.Waits(StoreWait::kTransfer) || waits < work.Waits(StoreWait::kRetry)) {
    return false;
  }
  cause.bottleneck = Bottleneck::kStoreThrottled;
  cause.evidence.push_back(
      format("the store answered {} of {} requests with 429 or 503: these were sent again after a "
             "pause, and fewer were sent at once",
             CountText(work.all.throttled), CountText(work.all.requests)));
  cause.evidence.push_back(GainText(work, "throttling", waits));
  cause.cure =
      "ask for fewer and larger ranges (--order window; packed shards instead of small objects), "
      "keep records on a local disk (RECPACK_CACHE_BYTES), spread shards over more prefixes, or "
      "ask the store's operator for a higher limit";
  return true;
}

}  // namespace recpack::probe
