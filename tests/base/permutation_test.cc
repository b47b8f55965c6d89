#include "recpack/base/permutation.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace recpack {
namespace {

TEST(PermutationTest, IsABijectionAtEverySmallSize) {
  for (uint64_t size = 1; size < 300; ++size) {
    const KeyedPermutation permute(size * 31, 0, size);
    std::vector<bool> seen(size);
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t to = permute(i);
      ASSERT_LT(to, size);
      ASSERT_FALSE(seen[to]);
      seen[to] = true;
    }
  }
}

TEST(PermutationTest, ListsWhatItGivesOneByOne) {
  for (uint64_t size = 1; size <= KeyedPermutation::kMostListed; ++size) {
    const KeyedPermutation permute(size * 17, 0, size);
    std::vector<uint8_t> listed(size + 1, 0xaa);
    permute.List(listed.data());
    for (uint64_t i = 0; i < size; ++i) ASSERT_EQ(listed[i], permute(i)) << size;
    EXPECT_EQ(listed[size], 0xaa);
  }
}

TEST(PermutationTest, DependsOnSeedAndStream) {
  const KeyedPermutation a(1, 0, 1000), b(2, 0, 1000), c(1, 1, 1000);
  int same_seed = 0, same_stream = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    same_seed += a(i) == b(i);
    same_stream += a(i) == c(i);
  }
  EXPECT_LT(same_seed, 20);
  EXPECT_LT(same_stream, 20);
}

TEST(PermutationTest, AllOrdersOfThreeComeUpAboutEqually) {
  std::vector<int> counts(27);
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const KeyedPermutation permute(seed, 0, 3);
    ++counts[permute(0) * 9 + permute(1) * 3 + permute(2)];
  }
  int orders = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    EXPECT_NEAR(count, 1000, 150);
  }
  EXPECT_EQ(orders, 6);
}

TEST(PermutationTest, WorksFarBeyondMemory) {
  const KeyedPermutation permute(3, 0, uint64_t{1} << 40);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_LT(permute(i), uint64_t{1} << 40);
    seen.insert(permute(i));
  }
  EXPECT_EQ(seen.size(), 1000u);
}

}  // namespace
}  // namespace recpack
