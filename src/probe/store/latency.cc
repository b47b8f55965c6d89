#include "src/base/format.h"
#include "src/probe/store/store_rules.h"

namespace recpack::probe {
namespace {

constexpr double kLargeRange = 4 << 20;  // bytes: latency is a small part of a range that is larger

}  // namespace

bool StoreAnswersLate(const StoreWork& work, Cause& cause) {
  const double waits = work.Waits(StoreWait::kFirstByte);
  if (waits < work.Waits(StoreWait::kTransfer) || waits < work.Waits(StoreWait::kRetry)) {
    return false;
  }
  cause.bottleneck = Bottleneck::kStoreLatency;
  cause.evidence.push_back(GainText(work, "waits for the first byte", waits));
  cause.cure =
      work.MeanRequest() < kLargeRange
          ? "ask for fewer and larger ranges (--order window instead of global; packed shards "
            "instead of small objects), keep records on a local disk (RECPACK_CACHE_BYTES), or "
            "train in the store's region"
          : "train in the store's region, keep records on a local disk (RECPACK_CACHE_BYTES), or "
            "use more loader threads, which ask for more ranges at once";
  return true;
}

}  // namespace recpack::probe
