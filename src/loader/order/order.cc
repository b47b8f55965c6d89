#include "recpack/loader/order.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/loader/data/streams.h"

namespace recpack {
namespace {

constexpr uint64_t kGlobalBelow = uint64_t{64} << 30;
constexpr uint64_t kBlockBytes = uint64_t{1} << 20;
constexpr uint64_t kNoWindow = ~uint64_t{0};
constexpr uint64_t kUnknownBlock = ~uint64_t{0};
constexpr uint32_t kMostKeptBlocks = 64;  // of a window

constexpr uint32_t StreamNumber(RandomStream stream) { return static_cast<uint32_t>(stream); }

}  // namespace

OrderSpec ResolveOrder(OrderSpec spec, uint64_t records, uint64_t bytes) {
  if (spec.kind == OrderKind::kAuto) {
    spec.kind = bytes < kGlobalBelow ? OrderKind::kGlobal : OrderKind::kWindow;
  }
  if (spec.kind != OrderKind::kWindow) return {.kind = spec.kind};
  if (spec.block_records == 0) {
    const uint64_t mean = std::max<uint64_t>(1, bytes / std::max<uint64_t>(1, records));
    spec.block_records =
        static_cast<uint32_t>(std::clamp<uint64_t>(kBlockBytes / mean, 1, 1 << 16));
  }
  if (spec.lanes == 0 || spec.window_blocks == 0) {
    throw Error(ErrorKind::kInvalidArgument, "a window order needs lanes and blocks", {},
                "give at least 1 of each");
  }
  return spec;
}

Order::Order(const OrderSpec& spec, uint64_t seed, uint64_t epoch, uint64_t records)
    : spec_(spec),
      records_(records),
      epoch_seed_(EpochSeed(seed, epoch)),
      all_(epoch_seed_, StreamNumber(RandomStream::kRecords), records),
      tail_(epoch_seed_, StreamNumber(RandomStream::kTail), 1) {
  if (spec.kind != OrderKind::kWindow) return;
  full_blocks_ = records / spec.block_records;
  rounds_ = full_blocks_ / spec.lanes;
  in_lanes_ = rounds_ * spec.lanes * spec.block_records;
  all_ = KeyedPermutation(epoch_seed_, StreamNumber(RandomStream::kRecords), full_blocks_);
  tail_ = KeyedPermutation(epoch_seed_, StreamNumber(RandomStream::kTail), records - in_lanes_);
  window_records_ = uint64_t{spec.window_blocks} * spec.block_records;
  windows_.assign(rounds_ == 0 ? 0 : spec.lanes, kNoWindow);
  if (window_records_ <= KeyedPermutation::kMostListed) {
    listed_.resize(windows_.size() * window_records_);
  } else {
    mixes_.assign(windows_.size(), tail_);
  }
  if (spec.window_blocks <= kMostKeptBlocks) {
    blocks_.assign(windows_.size() * spec.window_blocks, kUnknownBlock);
  }
}

uint64_t Order::operator()(uint64_t position) {
  if (spec_.kind == OrderKind::kSequential) return position;
  if (spec_.kind == OrderKind::kGlobal) return all_(position);
  if (position < in_lanes_) return InLane(position);

  const uint64_t mixed = tail_(position - in_lanes_);
  const uint64_t block = rounds_ * spec_.lanes + mixed / spec_.block_records;
  const uint64_t within = mixed % spec_.block_records;
  // The short last block is not permuted: it stays in its place.
  return (block < full_blocks_ ? all_(block) : full_blocks_) * spec_.block_records + within;
}

uint64_t Order::InSameWindow(uint64_t position, uint64_t draw) const noexcept {
  uint64_t first = 0, stride = 1, size = records_, index = position;
  if (spec_.kind == OrderKind::kWindow) {
    if (position < in_lanes_) {
      const uint64_t in_lane = position / spec_.lanes;
      const uint64_t begin = in_lane / window_records_ * window_records_;
      first = begin * spec_.lanes + position % spec_.lanes;
      stride = spec_.lanes;
      size = std::min(window_records_, rounds_ * spec_.block_records - begin);
      index = in_lane - begin;
    } else {
      first = in_lanes_;
      size = records_ - in_lanes_;
      index = position - in_lanes_;
    }
  }
  if (size < 2) {
    first = 0, stride = 1, size = records_, index = position;
    if (size < 2) return position;
  }
  const uint64_t other = draw % (size - 1);
  return first + (other < index ? other : other + 1) * stride;
}

uint64_t Order::InLane(uint64_t position) {
  const uint64_t lane = position % spec_.lanes;
  const uint64_t index = position / spec_.lanes;
  const uint64_t number = index / window_records_;
  if (windows_[lane] != number) BeginWindow(lane, number);
  const uint64_t within = index - number * window_records_;
  const uint64_t mixed =
      listed_.empty() ? mixes_[lane](within) : listed_[lane * window_records_ + within];
  const uint64_t block = mixed / spec_.block_records;
  return BlockOfLane(lane, number, block) * spec_.block_records +
         (mixed - block * spec_.block_records);
}

void Order::BeginWindow(uint64_t lane, uint64_t number) {
  constexpr uint32_t kStream = StreamNumber(RandomStream::kWindow);
  const uint64_t lane_records = rounds_ * spec_.block_records;
  const uint64_t size = std::min(window_records_, lane_records - number * window_records_);
  const uint64_t seed = KeyedRandom(epoch_seed_, kStream, number * spec_.lanes + lane).NextU64();
  const KeyedPermutation mix(seed, kStream, size);
  windows_[lane] = number;
  if (listed_.empty()) {
    mixes_[lane] = mix;
  } else {
    mix.List(&listed_[lane * window_records_]);
  }
  if (!blocks_.empty()) {
    std::fill_n(&blocks_[lane * spec_.window_blocks], spec_.window_blocks, kUnknownBlock);
  }
}

// The records of a window lie in a few blocks, and to find a block costs as much as the rest.
uint64_t Order::BlockOfLane(uint64_t lane, uint64_t window, uint64_t block) {
  const uint64_t round = window * spec_.window_blocks + block;
  if (blocks_.empty()) return all_(round * spec_.lanes + lane);
  uint64_t& known = blocks_[lane * spec_.window_blocks + block];
  if (known == kUnknownBlock) known = all_(round * spec_.lanes + lane);
  return known;
}

}  // namespace recpack
