#include "src/probe/store/store_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/causes/decide.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

struct StoreSeen {
  int first_byte = 0, transfer = 0, throttled = 0, retry = 0;  // seconds of the worker
  int input = 8;                                               // out of 10 seconds
  uint64_t throttles = 0;
  uint64_t epochs = 0;            // that ended after half of the time
  uint64_t hits = 0, misses = 0;  // bytes in each half
};

// Ten seconds of one worker, in three samples: 100 requests of 10 MB.
std::vector<LoaderSample> StoreLoader(const StoreSeen& seen) {
  std::vector<LoaderSample> samples(3);
  for (size_t half = 0; half < samples.size(); ++half) {
    LoaderSample& sample = samples[half];
    sample.time = static_cast<int64_t>(half) * 5 * kSecond;
    sample.process = 5;
    sample.stats.batches = 50 * half;
    sample.stats.samples = 500 * half;
    sample.stats.epochs = half > 0 ? seen.epochs : 0;
    sample.stats.consumer_wait = seconds(4 * half);
    WorkerStats& worker = sample.stats.workers.emplace_back();
    const auto part = [&](int all) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds(all)) *
             static_cast<int64_t>(half) / 2;
    };
    worker.stages[static_cast<size_t>(Stage::kInput)].time = part(seen.input);
    worker.stages[static_cast<size_t>(Stage::kDecode)].time = part(10 - seen.input);
    worker.store = {.waits = {part(seen.first_byte), part(seen.transfer), part(seen.throttled),
                              part(seen.retry)},
                    .requests = 50 * half,
                    .bytes = 500'000'000 * half,
                    .first_byte = part(5),
                    .transfer = part(20),
                    .throttled = seen.throttles * half / 2,
                    .cache_hits = seen.hits * half,
                    .cache_misses = seen.misses * half};
  }
  return samples;
}

Verdict StoreVerdict(const StoreSeen& seen) {
  return Decide({.loaders = StoreLoader(seen), .accelerators = false});
}

TEST(StorePlace, FirstBytesAreLatency) {
  const Verdict verdict = StoreVerdict({.first_byte = 5, .transfer = 2});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kStoreLatency);
  EXPECT_THAT(verdict.evidence,
              Contains(HasSubstr("70.0 % were waits for the store: 50.0 % for the first byte of "
                                 "answers, 20.0 % for the rest")));
  EXPECT_THAT(
      verdict.evidence,
      Contains(HasSubstr("100 requests of 10.0 MB in the mean, 2.5 at a time, 100.0 MB/s: 50.0 "
                         "ms to the first byte, 200.0 ms for the rest")));
  EXPECT_THAT(verdict.cure, HasSubstr("region"));
}

TEST(StorePlace, TheGainIsOfThisCauseAlone) {
  // First bytes take half of the time.
  EXPECT_THAT(StoreVerdict({.first_byte = 5, .transfer = 3}).evidence,
              Contains("without waits for the first byte: +100.0 % steps/s"));
  // No more than a perfect input gives: the trainer waits 8 of 10 s.
  EXPECT_THAT(StoreVerdict({.first_byte = 9, .input = 9}).evidence,
              Contains("without waits for the first byte: +400.0 % steps/s"));
}

TEST(StorePlace, TheRestIsBandwidth) {
  const Verdict verdict = StoreVerdict({.first_byte = 2, .transfer = 5});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kStoreBandwidth);
  EXPECT_THAT(verdict.cure, HasSubstr("recprobe doctor --store"));
}

TEST(StorePlace, PausesAfter503AreThrottling) {
  const Verdict verdict = StoreVerdict({.first_byte = 2, .throttled = 5, .throttles = 30});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kStoreThrottled);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("answered 30 of 100 requests with 429 or 503")));
  // Others come first if they take more.
  EXPECT_EQ(StoreVerdict({.first_byte = 5, .throttled = 2, .throttles = 30}).bottleneck,
            Bottleneck::kStoreLatency);
}

TEST(StorePlace, WhatWasReadBeforeIsMissedByTheCache) {
  const StoreSeen missed{.first_byte = 7, .epochs = 1, .hits = 20'000'000, .misses = 80'000'000};
  const Verdict verdict = StoreVerdict(missed);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kStoreCache);
  EXPECT_THAT(verdict.evidence,
              Contains(HasSubstr("epoch 2), and yet 80.0 % of the next 100.0 MB")));
  EXPECT_THAT(verdict.cure, HasSubstr("RECPACK_CACHE_BYTES"));
  StoreSeen first = missed;
  first.epochs = 0;  // it could not be there yet
  EXPECT_EQ(StoreVerdict(first).bottleneck, Bottleneck::kStoreLatency);
  StoreSeen none = missed;
  none.hits = none.misses = 0;  // there is no cache
  EXPECT_EQ(StoreVerdict(none).bottleneck, Bottleneck::kStoreLatency);
  StoreSeen enough = missed;
  enough.misses = 1'000'000;
  EXPECT_EQ(StoreVerdict(enough).bottleneck, Bottleneck::kStoreLatency);
}

TEST(StorePlace, OtherWaitsAreOfDisks) {
  EXPECT_EQ(StoreVerdict({}).bottleneck, Bottleneck::kStorage);
  EXPECT_EQ(StoreVerdict({.first_byte = 3}).bottleneck, Bottleneck::kStorage) << "of 8 s";
  const Verdict failures = StoreVerdict({.first_byte = 2, .retry = 5});
  EXPECT_EQ(failures.bottleneck, Bottleneck::kStorage);
  EXPECT_THAT(failures.evidence, Contains(HasSubstr("50.0 % after other failures")));
}

TEST(StorePlace, NamesAreReadBack) {
  for (const Bottleneck each : {Bottleneck::kStoreLatency, Bottleneck::kStoreBandwidth,
                                Bottleneck::kStoreThrottled, Bottleneck::kStoreCache}) {
    EXPECT_THAT(BottleneckName(each), HasSubstr("storage: "));
    EXPECT_EQ(ParseBottleneck(BottleneckName(each)), each);
  }
}

TEST(StorePlace, NothingChangesWithoutAStore) {
  Cause cause{.bottleneck = Bottleneck::kStorage};
  EXPECT_FALSE(StoreIsSlow({}, {}, 1, cause));
  EXPECT_EQ(cause.bottleneck, Bottleneck::kStorage);
  EXPECT_THAT(cause.evidence, IsEmpty());
}

}  // namespace
}  // namespace recpack::probe
