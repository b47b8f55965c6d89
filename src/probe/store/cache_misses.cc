#include "src/base/format.h"
#include "src/probe/store/store_rules.h"

namespace recpack::probe {
namespace {

constexpr double kMuchMissed = 0.1;  // of the bytes that were read again

}  // namespace

bool CacheIsTooSmall(const StoreWork& work, Cause& cause) {
  const double missed = work.MissedAgain();
  if (missed <= kMuchMissed) return false;
  cause.bottleneck = Bottleneck::kStoreCache;
  const uint64_t announced = work.again->cache_hits + work.again->cache_misses;
  cause.evidence.push_back(
      format("all of the data was read before (this is epoch {}), and yet {} of the next {} came "
             "from the store: the cache on the disk is full",
             work.epochs + 1, Percent(missed), BytesText(announced)));
  cause.evidence.push_back(GainText(work, "these waits", work.Waits()));
  cause.cure =
      "raise RECPACK_CACHE_BYTES to the size of the data (`recpack ls`; `recpack cache` shows the "
      "cache), use a larger disk (RECPACK_CACHE), or let each rank read only a part of the data";
  return true;
}

}  // namespace recpack::probe
