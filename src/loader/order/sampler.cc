#include "src/loader/order/sampler.h"

#include "recpack/base/permutation.h"
#include "src/loader/data/streams.h"

namespace recpack {

OrderSpec ResolveOrder(const OrderSpec& spec, const Mixture& mixture) {
  const bool no_windows = mixture.views().size() == 1 && mixture.views().front().balanced();
  if (spec.kind == OrderKind::kAuto && no_windows) return {.kind = OrderKind::kGlobal};
  return ResolveOrder(spec, mixture.records(), mixture.bytes());
}

Sampler::Sampler(const Mixture& mixture, const OrderSpec& order, uint64_t seed)
    : mixture_(mixture), order_(order), seed_(seed), orders_(mixture.views().size()) {
  const size_t views = mixture.views().size();
  for (size_t i = 0; i < views; ++i) {
    constexpr auto kStream = static_cast<uint32_t>(RandomStream::kMixedView);
    seeds_.push_back(views == 1 ? seed : KeyedRandom(seed, kStream, i).NextU64());
  }
}

SampledRecord Sampler::At(uint64_t epoch, uint64_t position) {
  const Place at = FindPlace(epoch, position);
  const uint64_t number = FindOrder(at.view, at.epoch)(at.position);
  return {at.view, mixture_.views()[at.view].Record(number, seeds_[at.view], at.epoch)};
}

SampledRecord Sampler::Substitute(uint64_t epoch, uint64_t position, uint64_t draw) {
  const Place at = FindPlace(epoch, position);
  const View& view = mixture_.views()[at.view];
  Order& order = FindOrder(at.view, at.epoch);
  if (view.balanced()) {
    const uint64_t number = order(at.position);
    const uint64_t record = view.Record(number, seeds_[at.view], at.epoch);
    return {at.view, view.AnotherOfClass(number, record, draw)};
  }
  const uint64_t number = order(order.InSameWindow(at.position, draw));
  return {at.view, view.Record(number, seeds_[at.view], at.epoch)};
}

Sampler::Place Sampler::FindPlace(uint64_t epoch, uint64_t position) {
  position %= mixture_.samples();
  if (mixture_.views().size() == 1) return {0, epoch, position};
  const uint64_t through_epochs = epoch * mixture_.samples() + position;
  const uint64_t period = through_epochs / mixture_.period();
  const Slot slot = FindPeriod(period).slots[through_epochs % mixture_.period()];
  const uint64_t sample = period * mixture_.counts()[slot.view] + slot.rank;
  const uint64_t own = mixture_.views()[slot.view].samples();
  return {slot.view, sample / own, sample % own};
}

const Sampler::Period& Sampler::FindPeriod(uint64_t number) {
  Period& period = periods_[number % periods_.size()];
  if (period.number == number) return period;
  constexpr auto kStream = static_cast<uint32_t>(RandomStream::kMixPeriod);
  const uint64_t period_seed = KeyedRandom(seed_, kStream, number).NextU64();
  const KeyedPermutation place(period_seed, kStream, mixture_.period());
  const auto& counts = mixture_.counts();
  std::vector<uint32_t> seen(counts.size());
  period.number = number;
  period.slots.clear();
  for (uint32_t i = 0; i < mixture_.period(); ++i) {
    uint64_t left = place(i);
    uint32_t view = 0;
    for (; left >= counts[view]; ++view) left -= counts[view];
    period.slots.push_back({view, seen[view]++});
  }
  return period;
}

Order& Sampler::FindOrder(uint32_t view, uint64_t epoch) {
  auto& cached = orders_[view][epoch % 2];
  if (!cached || cached->epoch != epoch) {
    cached.emplace(
        CachedOrder{epoch, Order(order_, seeds_[view], epoch, mixture_.views()[view].samples())});
  }
  return cached->order;
}

}  // namespace recpack
