#include "src/loader/run/read_ahead.h"

#include <algorithm>
#include <numeric>

#include "recpack/loader/loader.h"
#include "src/remote/store/data_files.h"
#include "src/remote/url/url.h"

namespace recpack {
namespace {

constexpr uint64_t kLeastSamples = 512;
// Read-ahead of data that is far away: at first what a common link carries in the time that a
// request takes to begin, then what this one does; but no more samples than can be announced before
// the first batch.
constexpr uint64_t kFarBytes = uint64_t{128} << 20, kMostFarBytes = uint64_t{384} << 20;
constexpr uint64_t kMostFarSamples = 4096;

bool IsFar(const Mixture& mixture) {
  return std::ranges::any_of(mixture.views(),
                             [](const View& view) { return remote::IsUrl(view.dataset().path()); });
}

double MeanBytes(const Mixture& mixture) {
  return static_cast<double>(mixture.bytes()) / static_cast<double>(mixture.samples());
}

}  // namespace

ReadAhead::ReadAhead(const Mixture& samples, const OrderSpec& order, uint32_t world_size,
                     RankShare share)
    : records_(samples.samples()),
      world_size_(world_size),
      far_(IsFar(samples)),
      mean_bytes_(MeanBytes(samples)),
      least_samples_(kLeastSamples) {
  if (order.kind != OrderKind::kWindow || (share == RankShare::kBatches && world_size > 1) ||
      samples.views().size() > 1 || samples.views().front().balanced()) {
    return;
  }
  row_ = uint64_t{order.lanes} * order.window_blocks * order.block_records;
  const uint64_t own = row_ / world_size;
  windows_ = static_cast<double>(own) * mean_bytes_ <= static_cast<double>(kMostBytes);
  if (!windows_) return;
  least_samples_ = std::max(least_samples_, own);
  if (far_) remote::WillReadTogether(static_cast<uint64_t>(static_cast<double>(own) * mean_bytes_));
  const uint64_t round = uint64_t{order.lanes} * order.block_records;
  in_lanes_ = records_ / round * round;
  stride_ = std::lcm(uint64_t{order.lanes}, uint64_t{world_size});
}

uint64_t ReadAhead::Samples() const noexcept {
  if (!far_ || mean_bytes_ == 0) return least_samples_;
  const uint64_t bytes = std::clamp(remote::FetchAheadBytes(), kFarBytes, kMostFarBytes);
  const double samples = static_cast<double>(bytes) / mean_bytes_;
  return std::max(least_samples_,
                  static_cast<uint64_t>(std::min(samples, static_cast<double>(kMostFarSamples))));
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
