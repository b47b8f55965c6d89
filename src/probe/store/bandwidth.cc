#include "src/base/format.h"
#include "src/probe/store/store_rules.h"

namespace recpack::probe {

bool LinkIsSlow(const StoreWork& work, Cause& cause) {
  const double waits = work.Waits(StoreWait::kTransfer);
  if (waits < work.Waits(StoreWait::kFirstByte) || waits < work.Waits(StoreWait::kRetry)) {
    return false;
  }
  cause.bottleneck = Bottleneck::kStoreBandwidth;
  cause.evidence.push_back(GainText(work, "waits for bytes under way", waits));
  cause.cure =
      "keep records on a local disk (RECPACK_CACHE_BYTES), so that later epochs need no network; "
      "use a faster link, or train in the store's region (`recprobe doctor --store URL` measures "
      "the link); or pack less data (--resize, fewer features)";
  return true;
}

}  // namespace recpack::probe
