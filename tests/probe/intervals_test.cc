#include "src/probe/util/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Intervals, UnionMergesWhatTouchesAndDropsWhatIsEmpty) {
  EXPECT_THAT(Union({{5, 7}, {1, 3}, {3, 4}, {6, 9}, {20, 20}, {8, 2}}),
              ElementsAre(Interval{1, 4}, Interval{5, 9}));
  EXPECT_THAT(Union({}), IsEmpty());
}

TEST(Intervals, GapsAreInsideOfTheWhole) {
  EXPECT_THAT(Gaps({{2, 3}, {5, 8}}, {0, 10}),
              ElementsAre(Interval{0, 2}, Interval{3, 5}, Interval{8, 10}));
  EXPECT_THAT(Gaps({{0, 4}, {9, 12}}, {2, 10}), ElementsAre(Interval{4, 9}));
  EXPECT_THAT(Gaps({{0, 12}}, {2, 10}), IsEmpty());
}

// Compares with sets of single points in time.
TEST(Intervals, AgreeWithCountingMoments) {
  constexpr int64_t kEnd = 60;
  std::mt19937 random(3);
  const auto some = [&] {
    std::vector<Interval> pieces(random() % 8);
    for (Interval& piece : pieces) {
      piece.begin = static_cast<int64_t>(random() % kEnd);
      piece.end = piece.begin + static_cast<int64_t>(random() % 10);
    }
    return pieces;
  };
  const auto holds = [](const std::vector<Interval>& pieces, int64_t at) {
    for (const Interval& piece : pieces) {
      if (piece.begin <= at && at < piece.end) return true;
    }
    return false;
  };
  for (int round = 0; round < 300; ++round) {
    const auto a = some(), b = some();
    const Intervals both = Intersection(Union(a), Union(b));
    const Intervals only = Difference(Union(a), Union(b));
    int64_t in_both = 0, in_a_only = 0;
    for (int64_t at = 0; at < kEnd + 10; ++at) {
      EXPECT_EQ(holds(both, at), holds(a, at) && holds(b, at));
      EXPECT_EQ(holds(only, at), holds(a, at) && !holds(b, at));
      in_both += holds(both, at) ? 1 : 0;
      in_a_only += holds(only, at) ? 1 : 0;
    }
    EXPECT_EQ(Length(both), in_both);
    EXPECT_EQ(Length(only), in_a_only);
  }
}

}  // namespace
}  // namespace recpack::probe
