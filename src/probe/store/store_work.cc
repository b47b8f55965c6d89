#include "src/probe/store/store_work.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

// Differences are clamped at 0, as in FindLoaderWork(): a page may be read while it is written.
StoreStats Less(const StoreStats& last, const StoreStats& first) {
  const auto grown = [](auto late, auto early) {
    return late > early ? late - early : decltype(late - early){};
  };
  StoreStats less{.requests = grown(last.requests, first.requests),
                  .bytes = grown(last.bytes, first.bytes),
                  .first_byte = grown(last.first_byte, first.first_byte),
                  .transfer = grown(last.transfer, first.transfer),
                  .throttled = grown(last.throttled, first.throttled),
                  .retried = grown(last.retried, first.retried),
                  .hedged = grown(last.hedged, first.hedged),
                  .cache_hits = grown(last.cache_hits, first.cache_hits),
                  .cache_misses = grown(last.cache_misses, first.cache_misses)};
  for (size_t i = 0; i < kStoreWaits; ++i) less.waits[i] = grown(last.waits[i], first.waits[i]);
  return less;
}

}  // namespace

double StoreWork::Waits(StoreWait what) const { return Seconds(all.wait(what)); }

double StoreWork::Waits() const {
  double sum = 0;
  for (const auto time : all.waits) sum += Seconds(time);
  return sum;
}

double StoreWork::MissedAgain() const {
  if (!again || again->cache_hits + again->cache_misses == 0) return 0;
  return static_cast<double>(again->cache_misses) /
         static_cast<double>(again->cache_hits + again->cache_misses);
}

double StoreWork::GainWithout(double waits) const {
  const double left = worker_time - waits;
  return left <= 0 ? max_gain : std::min(max_gain, worker_time / left - 1);
}

double StoreWork::MeanRequest() const {
  return all.requests == 0 ? 0 : static_cast<double>(all.bytes) / static_cast<double>(all.requests);
}

double StoreWork::MeanFirstByte() const {
  return all.requests == 0 ? 0 : Seconds(all.first_byte) / static_cast<double>(all.requests);
}

double StoreWork::MeanTransfer() const {
  return all.requests == 0 ? 0 : Seconds(all.transfer) / static_cast<double>(all.requests);
}

double StoreWork::AtOnce() const {
  return seconds > 0 ? Seconds(all.first_byte + all.transfer) / seconds : 0;
}

std::optional<StoreWork> FindStoreWork(const Evidence& evidence, const LoaderWork& work,
                                       double max_gain) {
  const LoaderSample *first = nullptr, *ended = nullptr, *last = nullptr;
  for (const LoaderSample& sample : evidence.loaders) {
    if (sample.process != work.process || sample.stats.number != work.number) continue;
    if (first == nullptr) first = &sample;
    if (ended == nullptr && sample.stats.epochs > 0) ended = &sample;
    last = &sample;
  }
  if (first == nullptr) return {};
  StoreWork store{.all = Less(last->stats.TotalStore(), first->stats.TotalStore()),
                  .seconds = Seconds(last->time - first->time),
                  .epochs = last->stats.epochs,
                  .max_gain = max_gain};
  if (store.Waits() <= 0) return {};
  if (ended != nullptr && ended != last) {
    store.again = Less(last->stats.TotalStore(), ended->stats.TotalStore());
  }
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage != Stage::kRoom) store.worker_time += Seconds(work.stages[i].time);
  }
  store.input_time = Seconds(work.stages[static_cast<size_t>(Stage::kInput)].time);
  return store;
}

std::string RequestsText(const StoreWork& work) {
  return format(
      "{} requests of {} in the mean, {:.1f} at a time, {}: {:.1f} ms to the first byte, {:.1f} ms "
      "for the rest",
      CountText(work.all.requests), BytesText(work.MeanRequest()), work.AtOnce(),
      RateText(work.seconds > 0 ? static_cast<double>(work.all.bytes) / work.seconds : 0, "B/s"),
      1e3 * work.MeanFirstByte(), 1e3 * work.MeanTransfer());
}

std::string GainText(const StoreWork& work, const char* without, double seconds) {
  return format("without {}: +{} steps/s", without, Percent(work.GainWithout(seconds)));
}

}  // namespace recpack::probe
