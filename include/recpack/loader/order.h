// Order in which an epoch delivers records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/base/permutation.h"

namespace recpack {

// Version of the orders, stored in tokens. Changes whenever an order changes.
inline constexpr int kOrderVersion = 1;

enum class OrderKind : uint8_t {
  kAuto,        // global if the shards have less than 64 GB, otherwise window
  kSequential,  // as stored
  kGlobal,      // random permutation of all records
  kWindow,      // permutes blocks, and records within a few blocks: reads sequentially
};

struct OrderSpec {
  OrderKind kind = OrderKind::kAuto;
  // For kWindow only. Part of the order: other values give another order.
  uint32_t block_records = 0;  // consecutive records read together; 0: about 1 MiB
  uint32_t lanes = 64;         // sequences of blocks read in parallel
  uint32_t window_blocks = 2;  // blocks of a lane whose records are shuffled together

  bool operator==(const OrderSpec&) const = default;
};

// Returns "sequential", "global", "window:BLOCK:LANES:WINDOW", "auto" or "window".
std::string OrderText(const OrderSpec& spec);

// Parses the result of OrderText(). Throws Error (kInvalidArgument) that lists the valid orders.
OrderSpec ParseOrder(const std::string& text);

// Replaces kAuto and a block of 0 records by their values for `records` records in `bytes` bytes of
// shards.
OrderSpec ResolveOrder(OrderSpec spec, uint64_t records, uint64_t bytes);

// Maps a position in the epoch to the ordinal of a record: a bijection of [0, records), and a pure
// function of (kOrderVersion, seed, epoch, records, spec). O(1) in time and memory. Fixed by golden
// hashes.
//
// Window order: the full blocks are permuted by key and dealt to the lanes, the j-th to lane j mod
// lanes. Position p belongs to lane p mod lanes, so a rank needs only the blocks of its own lanes
// if the number of ranks divides the number of lanes. Records that do not fill a round of all lanes
// (less than `lanes` blocks, and the short last block) come last, shuffled as a whole.
//
// Not thread-safe: caches the permutations used last. Cheap to copy.
class Order {
 public:
  // `spec` must be resolved (ResolveOrder()).
  Order(const OrderSpec& spec, uint64_t seed, uint64_t epoch, uint64_t records);

  uint64_t operator()(uint64_t position);

  // Returns another position whose record lies in the same window, and so in the same blocks.
  // `draw` selects it; any value is valid. Without windows, or if the window has a single record,
  // returns any other position; the same position only if there is no other.
  uint64_t InSameWindow(uint64_t position, uint64_t draw) const noexcept;

  uint64_t records() const noexcept { return records_; }

 private:
  uint64_t InLane(uint64_t position);
  void BeginWindow(uint64_t lane, uint64_t number);
  uint64_t BlockOfLane(uint64_t lane, uint64_t window, uint64_t block);

  OrderSpec spec_;
  uint64_t records_;
  uint64_t epoch_seed_;
  uint64_t rounds_ = 0;    // blocks per lane
  uint64_t in_lanes_ = 0;  // records in lanes
  uint64_t full_blocks_ = 0;
  KeyedPermutation all_;   // of all records, or of full blocks
  KeyedPermutation tail_;  // of the records that are in no lane
  // The window of each lane that was used last: its number, and how it mixes its records, which is
  // a list of `window_records_` bytes where these suffice.
  uint64_t window_records_ = 0;
  std::vector<uint64_t> windows_;
  std::vector<uint8_t> listed_;
  std::vector<KeyedPermutation> mixes_;
  std::vector<uint64_t> blocks_;  // of these windows, where they are known
};

}  // namespace recpack
