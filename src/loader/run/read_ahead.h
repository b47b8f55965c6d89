// Read-ahead: decides which samples are announced to the storage, and how early.
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

// With a window order, everything that a rank needs of a window is announced at once, sorted by
// location: whole blocks if the world size divides the number of lanes, otherwise one pass over
// them. Windows of all lanes begin together and form a row; when a row begins, the next one is
// announced. So at most Samples() and a row are announced but not yet read. Samples are announced
// one by one if a row exceeds kMostBytes per rank, if ranks share batches, and with all other
// orders. Immutable and thread-safe.
class ReadAhead {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  // `order` must be resolved (ResolveOrder()).
  ReadAhead(const Mixture& samples, const OrderSpec& order, uint32_t world_size, RankShare share);

  // Returns the distance from announcement to use, in samples of a rank. For data in an object
  // store it grows with what is under way on the link.
  uint64_t Samples() const noexcept;

  // Returns true if some of the data lies in an object store.
  bool far() const noexcept { return far_; }

  // Returns true if whole windows are announced at once.
  bool windows() const noexcept { return windows_; }

  // Returns true if the records of the first batch, of `samples` of this rank, are announced before
  // the window that they are part of: the window would be fetched whole before the batch is there.
  bool first_batch_alone(uint64_t samples) const noexcept {
    return far_ && windows_ && mean_bytes_ >= kLargeRecordBytes &&
           row_ / world_size_ >= kWindowOfBatches * samples;
  }

  // Returns the positions to announce for this position, of the same rank. Without windows: the
  // position itself. With windows: the remaining positions of its window if it is the first of
  // them, otherwise none. The rank's positions of this epoch begin at or after `begin`.
  PositionRun At(uint64_t position, uint64_t begin) const noexcept;

 private:
  // Smaller records are cheaper in long ranges.
  static constexpr double kLargeRecordBytes = 16 << 10;
  static constexpr uint64_t kWindowOfBatches = 4;

  uint64_t records_;
  uint64_t world_size_;
  bool far_;
  double mean_bytes_;  // of a record
  uint64_t least_samples_;
  bool windows_ = false;
  uint64_t row_ = 1;       // positions per row of windows
  uint64_t in_lanes_ = 0;  // positions in lanes, as in Order
  uint64_t stride_ = 1;    // between positions of one rank in one lane
};

}  // namespace recpack
