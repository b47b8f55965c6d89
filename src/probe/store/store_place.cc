#include "src/probe/store/store_place.h"

#include <algorithm>
#include <utility>

#include "src/base/format.h"
#include "src/probe/store/store_rules.h"
#include "src/probe/store/store_work.h"

namespace recpack::probe {
namespace {

constexpr double kMostly = 0.5;  // of the waits for input

std::string SharesText(const LoaderWork& work, const StoreWork& store) {
  const auto share = [&](StoreWait what) { return Percent(store.Waits(what) / store.worker_time); };
  return format(
      "of the {} workers' time, without waits for a free slot, {} were waits for the store: {} for "
      "the first byte of answers, {} for the rest of them, {} because it throttled, {} after other "
      "failures",
      work.workers, Percent(store.Waits() / store.worker_time), share(StoreWait::kFirstByte),
      share(StoreWait::kTransfer), share(StoreWait::kThrottled), share(StoreWait::kRetry));
}

// Seconds that curing the cause would save.
double StoreWaits(Bottleneck bottleneck, const StoreWork& store) {
  switch (bottleneck) {
    case Bottleneck::kStoreLatency:
      return store.Waits(StoreWait::kFirstByte);
    case Bottleneck::kStoreBandwidth:
      return store.Waits(StoreWait::kTransfer);
    case Bottleneck::kStoreThrottled:
      return store.Waits(StoreWait::kThrottled);
    default:
      return store.Waits();
  }
}

}  // namespace

std::optional<double> StoreIsSlow(const Evidence& evidence, const LoaderWork& work, double max_gain,
                                  Cause& cause) {
  const auto store = FindStoreWork(evidence, work, max_gain);
  if (!store || store->Waits() < kMostly * store->input_time) return {};
  Cause found = cause;
  found.evidence = {SharesText(work, *store), RequestsText(*store)};
  // What failed for other reasons stays storage.
  for (const auto rule : {CacheIsTooSmall, StoreThrottles, StoreAnswersLate, LinkIsSlow}) {
    if (rule(*store, found)) break;
  }
  cause = std::move(found);
  return std::min(1.0, StoreWaits(cause.bottleneck, *store) / store->input_time);
}

}  // namespace recpack::probe
