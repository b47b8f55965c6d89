#include "src/probe/causes/cures.h"

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
     "give it more memory, pack smaller (--resize, fewer features), keep decoded samples "
     "(--cache), or let each rank read a part of the data"},
    {Bottleneck::kRead,
     "more loader threads; pack without compression where the disk is fast enough"},
    {Bottleneck::kDecompress,
     "more loader workers; store without compression where the disk is fast enough, or with a "
     "faster one (zstd, lz4)"},
    {Bottleneck::kParse, "more loader threads; pack fewer features into a record"},
    {Bottleneck::kDecode,
     "more loader threads; pack with --resize or --jpeg tile; keep pictures in memory (--cache)"},
    {Bottleneck::kAugment, "more loader threads, or fewer augmentations"},
    {Bottleneck::kFunction, "make the function of samples faster, or give the loader more threads"},
    {Bottleneck::kBatch, "make the work on whole batches faster, or give the loader more threads"},
    {Bottleneck::kWrite,
     "let the device normalise and cast (u8 crosses the bus), or more loader threads"},
    {Bottleneck::kPrefetch, "raise the loader's prefetch: its batches come in bursts"},
    {Bottleneck::kTrainingThread,
     "fetch batches in the background: DataLoader(num_workers=...), prefetch(), or our loader"},
    {Bottleneck::kInterference, "keep other programs off these processors, or use fewer threads"},
    {Bottleneck::kQuota,
     "raise the container's processor limit, or use as many threads as it allows"},
    {Bottleneck::kLock,
     "move what that thread does into a process of its own, or into code that lets go of the lock"},
    {Bottleneck::kCopyToDevice,
     "pin the memory and copy ahead of the step, on a stream of its own"},
    {Bottleneck::kCopyOnDevices,
     "place operations that exchange much on one device, and write results where they are read"},
    {Bottleneck::kTurns,
     "put operations that wait for each other on one device, and what does not (towers) on "
     "different ones; or split batches, so that devices work on different parts of them"},
    {Bottleneck::kExchange, "larger batches, fewer exchanges, or a faster way between the devices"},
    {Bottleneck::kSlowRank, "look at that rank"},
    {Bottleneck::kLaunch,
     "launch many kernels at once (CUDA graphs, torch.compile(mode='reduce-overhead')), fuse them, "
     "or use larger batches"},
    {Bottleneck::kThrottled, "better cooling, or a higher power limit (nvidia-smi -pl)"},
    {Bottleneck::kHang,
     "look at what each thread does (py-spy dump, gdb), and whether all ranks are still there"},
};

}  // namespace

const char* CureOf(Bottleneck bottleneck) noexcept {
  for (const Cure& cure : kCures) {
    if (cure.bottleneck == bottleneck) return cure.text;
  }
  return "";
}

}  // namespace recpack::probe
