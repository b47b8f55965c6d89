// Which samples the storage is told of, and how long before their use.
#pragma once

#include <cstdint>

#include "recpack/loader/mixture.h"
#include "recpack/loader/order.h"

namespace recpack {

enum class RankShare : uint8_t;

// Positions first, first + step, ... below end.
struct PositionRun {
  uint64_t first = 0;
  uint64_t step = 1;
  uint64_t end = 0;
};

// Of a window order, all that a rank needs of a window is told of at once: sorted by where it lies,
// that is whole blocks where the world size divides the lanes, and else one pass over them. Windows
// of all lanes begin together, a row of them; the next row is told of when one begins. So what is
// told of and not yet read is at most samples() and a row. Where a row is more than kMostBytes a
// rank, where ranks share batches, and with every other order, samples are told of one by one.
// Immutable; any thread.
class ReadAhead {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  // `order` as ResolveOrder() gives it.
  ReadAhead(const Mixture& samples, const OrderSpec& order, uint32_t world_size, RankShare share);

  // Of a rank, from telling to use.
  uint64_t samples() const noexcept { return samples_; }

  // Whether whole windows are told of at once.
  bool windows() const noexcept { return windows_; }

  // The positions to tell of on behalf of this one, of the same rank: itself; or, of a window
  // order, all of its window from here on if it is the first of them, else none. The rank's
  // positions of this epoch begin at `begin` or behind.
  PositionRun At(uint64_t position, uint64_t begin) const noexcept;

 private:
  uint64_t records_;
  uint64_t world_size_;
  uint64_t samples_;
  bool windows_ = false;
  uint64_t row_ = 1;       // positions of a row of windows
  uint64_t in_lanes_ = 0;  // positions, as Order has it
  uint64_t stride_ = 1;    // between positions of one rank in one lane
};

}  // namespace recpack
