#include "tools/store_link.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "recpack/base/median.h"
#include "recpack/base/random.h"
#include "src/base/format.h"
#include "src/remote/http/fetch_waits.h"
#include "src/remote/http/reactor.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/object.h"
#include "src/remote/url/url.h"
#include "src/shards/layout/layout.h"

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::array<uint64_t, 4> kRanges = {64 << 10, 256 << 10, 1 << 20, 8 << 20};
constexpr std::array<int, 4> kAtOnce = {1, 4, 16, 64};
constexpr double kNear = 0.8;  // of the best rate
constexpr double kMostMemory = 256 << 20;
constexpr double kMostRounds = 4;  // times a measurement's time
constexpr int kMostFailures = 8;   // in a row, then a measurement ends
constexpr std::chrono::milliseconds kPauseAfterFailure(10);

struct Source {
  std::string url;
  uint64_t record_bytes = 0;
};

// The largest listed shard, and the mean record of all.
Source FindSource(const std::string& url) {
  Source source{.url = url};
  uint64_t largest = 0, bytes = 0, records = 0;
  std::vector<LayoutSplit> splits;
  try {
    splits = FindLayout(url).splits;
  } catch (const Error&) {  // no shards: an object, or nothing
  }
  for (const LayoutSplit& split : splits) {
    for (size_t i = 0; i < split.shards.size(); ++i) {
      const auto listed = split.ListedAt(i);
      if (!listed) continue;
      bytes += listed->bytes;
      records += listed->records;
      if (listed->bytes > largest) {
        largest = listed->bytes;
        source.url = split.shards[i];
      }
    }
    if (largest == 0 && !split.shards.empty()) source.url = split.shards[0];
  }
  if (records > 0) source.record_bytes = bytes / records;
  return source;
}

// One measurement: threads that each have a request under way.
class Measurement {
 public:
  Measurement(const remote::Object& object, LinkRate& rate, Seconds time)
      : object_(object),
        rate_(rate),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(time)) {}

  void Run() {
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(rate_.at_once));
    for (int i = 0; i < rate_.at_once; ++i) {
      threads.emplace_back([this, i] { Ask(static_cast<uint32_t>(i)); });
    }
    for (std::thread& thread : threads) thread.join();
    const double seconds = Seconds(Clock::now() - begin).count();
    rate_.bytes_per_second =
        static_cast<double>(rate_.requests) * static_cast<double>(rate_.range_bytes) / seconds;
    if (!first_bytes_.empty()) rate_.first_byte = Median(first_bytes_);
  }

 private:
  void Ask(uint32_t thread) {
    ByteBuffer bytes(rate_.range_bytes);
    KeyedRandom random(rate_.range_bytes, static_cast<uint32_t>(rate_.at_once), thread);
    for (int failures = 0; failures < kMostFailures;) {
      const uint64_t offset = random.NextU64() % (object_.size() - rate_.range_bytes + 1);
      const auto exchange = std::make_shared<remote::Exchange>(
          object_.MakeRequest(offset, rate_.range_bytes), std::span(bytes));
      remote::Reactor::Get().Start(exchange);
      exchange->Wait();
      failures = Count(*exchange) ? 0 : failures + 1;
      if (Clock::now() >= end_) return;
      if (failures > 0) std::this_thread::sleep_for(kPauseAfterFailure);
    }
  }

  bool Count(const remote::Exchange& exchange) {
    const std::lock_guard lock(mutex_);
    if (exchange.ok() && exchange.received() == rate_.range_bytes) {
      ++rate_.requests;
      first_bytes_.push_back(Seconds(exchange.first_byte_time()).count());
      return true;
    }
    ++(remote::IsThrottled(exchange.status()) ? rate_.throttled : rate_.failed);
    return false;
  }

  const remote::Object& object_;
  LinkRate& rate_;
  const Clock::time_point end_;
  std::mutex mutex_;
  std::vector<double> first_bytes_;  // guarded by mutex_
};

// Tells whether one round of requests would take too much memory, or too long at the best rate so
// far.
bool IsTooMuch(const StoreLink& link, const LinkRate& rate, Seconds time) {
  const double bytes = static_cast<double>(rate.range_bytes) * rate.at_once;
  // The store may have refused all so far.
  if (link.rates.empty() || link.best().requests == 0) return bytes > kMostMemory;
  return bytes > kMostMemory || bytes > kMostRounds * time.count() * link.best().bytes_per_second;
}

}  // namespace

const LinkRate& StoreLink::best() const {
  return *std::ranges::max_element(rates, {}, &LinkRate::bytes_per_second);
}

const LinkRate& StoreLink::enough() const {
  const double least = kNear * best().bytes_per_second;
  return *std::ranges::find_if(
      rates, [&](const LinkRate& rate) { return rate.bytes_per_second >= least; });
}

std::optional<LinkRate> StoreLink::single_records() const {
  std::optional<LinkRate> found;
  for (const LinkRate& rate : rates) {
    if (rate.range_bytes != record_bytes) continue;
    if (!found || rate.bytes_per_second > found->bytes_per_second) found = rate;
  }
  return found;
}

StoreLink MeasureLink(const std::string& url, Seconds time) {
  if (!remote::IsUrl(url)) {
    throw Error(ErrorKind::kInvalidArgument, "is not a URL", {.path = url},
                "expected s3://..., gs://... or https://...");
  }
  const Source source = FindSource(url);
  const remote::Object object(source.url);
  StoreLink link{.object = remote::WithoutSecrets(source.url),
                 .record_bytes = source.record_bytes,
                 .rates = {}};
  std::vector<uint64_t> ranges(kRanges.begin(), kRanges.end());
  if (link.record_bytes > 0) ranges.push_back(link.record_bytes);
  std::erase_if(ranges, [&](uint64_t bytes) { return bytes > object.size(); });
  std::ranges::sort(ranges);
  ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
  if (ranges.empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                format("has {}: too little to measure a link", BytesText(object.size())),
                {.path = link.object}, "name a data set with larger shards");
  }
  const Seconds each = time / static_cast<double>(ranges.size() * kAtOnce.size());
  for (const uint64_t bytes : ranges) {
    for (const int at_once : kAtOnce) {
      LinkRate rate{.range_bytes = bytes, .at_once = at_once};
      if (IsTooMuch(link, rate, each)) continue;
      Measurement(object, rate, each).Run();
      link.rates.push_back(rate);
    }
  }
  if (link.best().requests > 0) return link;
  throw Error(ErrorKind::kIo, "no range was answered", {.path = link.object},
              "check the network and the store's state");
}

}  // namespace recpack::tool
