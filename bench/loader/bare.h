// Loops that do the least that a job needs: the ceilings of loader_bench.
#pragma once

#include <memory>
#include <string>

#include "bench/record/timing.h"

namespace recpack::bench {

struct BareFlags {
  std::string data;
  bool floats = true;  // f32 NCHW normalised, or u8
  int threads = 2;
  uint32_t batch = 512;
  uint64_t samples = 0;  // of a pass; 0: an epoch
};

// A loop that goes on where its last pass ended.
class BareLoop {
 public:
  virtual ~BareLoop() = default;
  virtual Pass Run() = 0;
};

// CIFAR-10: each thread goes over its share of a keyed permutation, checks the CRC in a mapping
// that stays, crops, flips and normalises into its own batch memory.
std::unique_ptr<BareLoop> BareCifar(const BareFlags& flags);

// CIFAR-10 in order: each thread checks the CRCs of its records in a mapping that stays, and copies
// image and label into its own batch memory, from where they lie in the first record: nothing is
// parsed.
std::unique_ptr<BareLoop> BareParse(const BareFlags& flags);

// The random-resized-crops of the imagenet recipe, decoded from mapped shards by libjpeg-turbo's
// own crop and skip to rows that are not kept: no CRC, no resize, no batch.
std::unique_ptr<BareLoop> BareCrop(const BareFlags& flags);

// The shards' bytes by large reads, one shard after another on each thread; nothing is looked at.
std::unique_ptr<BareLoop> BareSequential(const BareFlags& flags);

}  // namespace recpack::bench
