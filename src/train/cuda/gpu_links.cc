#include "src/train/cuda/gpu_links.h"

#include <algorithm>

#include "src/train/cuda/runtime/errors.h"

namespace recpack::train {
namespace {

GpuLink LinkTo(int from, int to) {
  int reaches = 0, atomics = 0;
  Check(cudaDeviceCanAccessPeer(&reaches, from, to), "cudaDeviceCanAccessPeer");
  if (!reaches) return GpuLink::kNone;
  Check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to),
        "cudaDeviceGetP2PAttribute");
  return atomics ? GpuLink::kNvlink : GpuLink::kPcie;
}

}  // namespace

GpuLink LinkBetween(int one, int other) {
  if (one == other) return GpuLink::kSame;
  return std::min(LinkTo(one, other), LinkTo(other, one));
}

}  // namespace recpack::train
