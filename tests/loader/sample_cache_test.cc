#include "src/loader/batch/sample_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/base/error_of.h"

namespace recpack {
namespace {

using testing::HasSubstr;

// Bytes unique to this key.
ByteBuffer BytesOf(const CacheKey& key, size_t size) {
  ByteBuffer bytes(size);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<uint8_t>(key.id * 131 + key.view * 17 + key.picture * 7 + i);
  }
  return bytes;
}

bool Has(const SampleCache& cache, const CacheKey& key, size_t size) {
  const auto found = cache.Find(key);
  if (!found) return false;
  EXPECT_EQ(ByteBuffer(found->begin(), found->end()), BytesOf(key, size));
  return true;
}

TEST(SampleCache, FindsWhatWasKeptByEveryPartOfTheKey) {
  SampleCache cache(1 << 20, 1000, 100);
  std::vector<CacheKey> keys;
  for (uint32_t view = 0; view < 3; ++view) {
    for (uint64_t id = 0; id < 20; ++id) {
      for (uint64_t picture = 0; picture < 3; ++picture) keys.push_back({view, id, picture});
    }
  }
  for (const CacheKey& key : keys) {
    EXPECT_FALSE(cache.Find(key));
    cache.Keep(key, BytesOf(key, key.id));  // the first ones are empty
  }
  for (const CacheKey& key : keys) EXPECT_TRUE(Has(cache, key, key.id));
  EXPECT_FALSE(cache.Find({.view = 3}));
  EXPECT_EQ(cache.stats().kept, keys.size());
}

TEST(SampleCache, KeepsTheFirstOfAKey) {
  SampleCache cache(1 << 20, 10, 100);
  cache.Keep({.id = 4}, BytesOf({.id = 4}, 50));
  const CacheStats before = cache.stats();
  cache.Keep({.id = 4}, BytesOf({.id = 5}, 60));
  EXPECT_TRUE(Has(cache, {.id = 4}, 50));
  EXPECT_EQ(cache.stats().bytes, before.bytes);
  EXPECT_EQ(cache.stats().kept, 1u);
}

TEST(SampleCache, NeverTakesMoreThanItsBudget) {
  for (const uint64_t budget : {1ull, 100ull, 4095ull, 4096ull, 5000ull, 65'536ull, 1'000'003ull}) {
    for (const uint64_t size : {0ull, 1ull, 15ull, 16ull, 17ull, 1000ull, 4096ull, 100'000ull}) {
      constexpr uint64_t kKeys = 5000;
      const ByteBuffer bytes(size, 7);
      for (const uint64_t expected : {uint64_t{1}, size, 10 * size}) {
        SampleCache cache(budget, kKeys, expected);
        uint64_t kept = 0;
        for (uint64_t id = 0; id < kKeys; ++id) {
          const bool room = cache.HasRoom(size);
          cache.Keep({.id = id}, bytes);
          EXPECT_EQ(cache.Find({.id = id}).has_value(), room);
          kept += room ? 1 : 0;
          ASSERT_LE(cache.stats().bytes, budget);
        }
        EXPECT_EQ(cache.stats().kept, kept);
        EXPECT_LE(kept * (size + 40), budget);  // with a header and a table slot each
      }
    }
  }
}

TEST(SampleCache, UsesItsBudget) {
  SampleCache cache(1'000'000, 10'000, 1000);
  for (uint64_t id = 0; id < 10'000; ++id) cache.Keep({.id = id}, BytesOf({.id = id}, 1000));
  EXPECT_GT(cache.stats().kept * 1000, 900'000u);
  for (uint64_t id = 0; id < cache.stats().kept; ++id) EXPECT_TRUE(Has(cache, {.id = id}, 1000));
}

TEST(SampleCache, TakesWhatStillFits) {
  SampleCache cache(64 << 10, 100, 100);
  cache.Keep({.id = 0}, BytesOf({.id = 0}, 40'000));
  cache.Keep({.id = 1}, BytesOf({.id = 1}, 40'000));
  cache.Keep({.id = 2}, BytesOf({.id = 2}, 4000));
  EXPECT_TRUE(Has(cache, {.id = 0}, 40'000));
  EXPECT_FALSE(cache.Find({.id = 1}));
  EXPECT_TRUE(Has(cache, {.id = 2}, 4000));
}

// Threads insert and look up the same keys concurrently, in different orders.
void Hammer(SampleCache& cache, uint64_t budget, uint64_t keys) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kStrides[kThreads] = {1, 1, 3, 7};
  const auto size = [](uint64_t id) { return static_cast<size_t>(id % 97); };
  std::vector<std::thread> threads;
  for (const uint64_t stride : kStrides) {
    threads.emplace_back([&, stride] {
      for (uint64_t i = 0; i < keys; ++i) {
        const uint64_t id = i * stride % keys;
        const CacheKey key{.view = static_cast<uint32_t>(id % 2), .id = id};
        if (!Has(cache, key, size(id))) cache.Keep(key, BytesOf(key, size(id)));
        EXPECT_LE(cache.stats().bytes, budget);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t there = 0;
  for (uint64_t id = 0; id < keys; ++id) {
    const CacheKey key{.view = static_cast<uint32_t>(id % 2), .id = id};
    there += Has(cache, key, size(id)) ? 1 : 0;
  }
  EXPECT_EQ(cache.stats().kept, there);
}

TEST(SampleCache, ThreadsSeeWholeBytesAndShareTheBudget) {
  constexpr uint64_t kKeys = 5003;  // not a multiple of a stride
  SampleCache ample(4 << 20, kKeys, 0);
  Hammer(ample, 4 << 20, kKeys);
  EXPECT_EQ(ample.stats().kept, kKeys);
  constexpr uint64_t kPages = 24 * 4096;  // a budget that can be used completely
  SampleCache scarce(kPages, kKeys, 0);
  Hammer(scarce, kPages, kKeys);
  EXPECT_GT(scarce.stats().kept, 500u);
  EXPECT_LT(scarce.stats().kept, kKeys);
}

TEST(SampleCache, SaysThatABudgetIsTooLarge) {
  const Error error = ErrorOf([] { SampleCache cache(uint64_t{1} << 60, 10, 10); });
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("1152921504606846976 bytes"));
  EXPECT_THAT(error.what(), HasSubstr("smaller"));
}

}  // namespace
}  // namespace recpack
