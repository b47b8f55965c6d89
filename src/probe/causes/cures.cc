#include "src/probe/causes/rules.h"

namespace recpack::probe {
namespace {

struct Cure {
  Bottleneck bottleneck;
  const char* text;
};

constexpr Cure kCures[] = {
    {Bottleneck::kStorage,
     "read from faster storage, pack into shards, or keep the records in memory (--cache)"},
    {Bottleneck::kPageCache,
     "add memory, pack less data (--resize, fewer features), keep decoded samples in memory "
     "(--cache), or let each rank read only a part of the data"},
    {Bottleneck::kRead,
     "use more loader threads; pack without compression if the disk is fast enough"},
    {Bottleneck::kDecompress,
     "use more loader workers; store without compression if the disk is fast enough, or use a "
     "faster compression (zstd, lz4)"},
    {Bottleneck::kParse, "use more loader threads; pack fewer features into a record"},
    {Bottleneck::kDecode,
     "use more loader threads; pack with --resize or --jpeg tile; keep pictures in memory "
     "(--cache)"},
    {Bottleneck::kAugment, "use more loader threads, or fewer augmentations"},
    {Bottleneck::kFunction, "make the function of samples faster, or give the loader more threads"},
    {Bottleneck::kBatch, "make the work on whole batches faster, or give the loader more threads"},
    {Bottleneck::kWrite,
     "normalise and cast on the device (copy u8 to it), or use more loader threads"},
    {Bottleneck::kPrefetch, "raise the loader's prefetch: its batches come in bursts"},
    {Bottleneck::kTrainingThread,
     "fetch batches in the background: DataLoader(num_workers=...), prefetch(), or recpack's "
     "loader"},
    {Bottleneck::kInterference, "keep other programs off these processors, or use fewer threads"},
    {Bottleneck::kQuota,
     "raise the container's CPU limit, or use only as many threads as it allows"},
    {Bottleneck::kLock,
     "move that thread's work to a separate process, or to code that releases the lock"},
    {Bottleneck::kCopyToDevice, "pin the memory and copy ahead of the step, on a separate stream"},
    {Bottleneck::kCopyOnDevices,
     "place operations that exchange much data on one device, and write results where they are "
     "read"},
    {Bottleneck::kTurns,
     "put operations that wait for each other on one device, and independent ones (towers) on "
     "different devices; or split batches so that devices work on different parts of them"},
    {Bottleneck::kExchange,
     "use larger batches, fewer exchanges (no_sync() of DistributedDataParallel), smaller ones "
     "(its hooks that compress gradients), or a faster link between the devices"},
    {Bottleneck::kSlowRank, "find out why that rank is slow"},
    {Bottleneck::kLaunch,
     "launch many kernels at once (CUDA graphs, torch.compile(mode='reduce-overhead')), fuse them, "
     "or use larger batches"},
    {Bottleneck::kThrottled, "improve the cooling, or raise the power limit (nvidia-smi -pl)"},
    {Bottleneck::kHang,
     "check what each thread does (py-spy dump, gdb), and whether all ranks are still running"},
};

}  // namespace

const char* UsualCure(Bottleneck bottleneck) noexcept {
  for (const Cure& cure : kCures) {
    if (cure.bottleneck == bottleneck) return cure.text;
  }
  return "";
}

}  // namespace recpack::probe
