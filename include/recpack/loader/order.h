// The order in which an epoch's records are delivered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/base/permutation.h"

namespace recpack {

// Tokens carry it; another number means that orders differ from those of this version.
inline constexpr int kOrderVersion = 1;

enum class OrderKind : uint8_t {
  kAuto,        // global where the shards are below 64 GB, else window
  kSequential,  // as stored
  kGlobal,      // a permutation of all records
  kWindow,      // a permutation of blocks, and of the records within a few blocks: reads in order
};

struct OrderSpec {
  OrderKind kind = OrderKind::kAuto;
  // Of kWindow only; part of the order, so that another value is another order.
  uint32_t block_records = 0;  // consecutive records that are read together; 0: about 1 MiB of them
  uint32_t lanes = 64;         // sequences of blocks that are read side by side
  uint32_t window_blocks = 2;  // blocks of a lane whose records are mixed

  bool operator==(const OrderSpec&) const = default;
};

// "sequential", "global", "window:BLOCK:LANES:WINDOW", "auto", "window".
std::string OrderText(const OrderSpec& spec);

// The inverse; throws Error (kInvalidArgument) that names what is possible.
OrderSpec ParseOrder(const std::string& text);

// What kAuto and a block of 0 records mean for `records` records in `bytes` bytes of shards.
OrderSpec ResolveOrder(OrderSpec spec, uint64_t records, uint64_t bytes);

// Position in the epoch -> ordinal of the record: a bijection of [0, records), a pure function of
// (kOrderVersion, seed, epoch, records, spec), O(1) in time and memory. Frozen by golden hashes.
//
// The window order: of the blocks that are full, the j-th in a keyed permutation is dealt to lane
// j mod lanes. Position p belongs to lane p mod lanes, so that a rank needs only the blocks of its
// own lanes where the number of ranks divides that of lanes. What does not fill a round of all
// lanes (less than `lanes` blocks, and the short last block) comes last, mixed as a whole.
//
// Holds the permutations used last: one thread at a time; copies are cheap.
class Order {
 public:
  // `spec` as ResolveOrder() gives it.
  Order(const OrderSpec& spec, uint64_t seed, uint64_t epoch, uint64_t records);

  uint64_t operator()(uint64_t position);

  // Another position whose record lies in the same window, so that it is read from the same blocks;
  // any `draw` is a choice. Without windows, and where the window has one record only, any position
  // but this one; this one where there is no other.
  uint64_t InSameWindow(uint64_t position, uint64_t draw) const noexcept;

  uint64_t records() const noexcept { return records_; }

 private:
  struct LaneWindow {
    uint64_t number;  // of the window in its lane
    KeyedPermutation mix;
  };

  uint64_t InLane(uint64_t position);

  OrderSpec spec_;
  uint64_t records_;
  uint64_t epoch_seed_;
  uint64_t rounds_ = 0;    // blocks of each lane
  uint64_t in_lanes_ = 0;  // records that lanes hold
  uint64_t full_blocks_ = 0;
  KeyedPermutation all_;             // of records, or of full blocks
  KeyedPermutation tail_;            // of the records that no lane holds
  std::vector<LaneWindow> windows_;  // by lane
};

}  // namespace recpack
