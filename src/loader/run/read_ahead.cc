#include "src/loader/run/read_ahead.h"

#include <algorithm>
#include <numeric>

#include "recpack/loader/loader.h"

namespace recpack {
namespace {

constexpr uint64_t kLeastSamples = 512;

}  // namespace

ReadAhead::ReadAhead(const Mixture& samples, const OrderSpec& order, uint32_t world_size,
                     RankShare share)
    : records_(samples.samples()), world_size_(world_size), samples_(kLeastSamples) {
  if (order.kind != OrderKind::kWindow || (share == RankShare::kBatches && world_size > 1) ||
      samples.views().size() > 1 || samples.views().front().balanced()) {
    return;
  }
  row_ = uint64_t{order.lanes} * order.window_blocks * order.block_records;
  const uint64_t own = row_ / world_size;
  const double mean = static_cast<double>(samples.bytes()) / static_cast<double>(records_);
  windows_ = static_cast<double>(own) * mean <= static_cast<double>(kMostBytes);
  if (!windows_) return;
  samples_ = std::max(kLeastSamples, own);
  const uint64_t round = uint64_t{order.lanes} * order.block_records;
  in_lanes_ = records_ / round * round;
  stride_ = std::lcm(uint64_t{order.lanes}, uint64_t{world_size});
}

PositionRun ReadAhead::At(uint64_t position, uint64_t begin) const noexcept {
  if (!windows_ || position >= records_) return {position, 1, position + 1};
  const bool in_lane = position < in_lanes_;
  const uint64_t window = in_lane ? position / row_ * row_ : in_lanes_;
  const uint64_t step = in_lane ? stride_ : world_size_;
  if (position >= std::max(window, begin) + step) return {};  // not the first
  return {position, step, in_lane ? std::min(window + row_, in_lanes_) : records_};
}

}  // namespace recpack
