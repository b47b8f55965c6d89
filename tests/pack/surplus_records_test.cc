#include "src/pack/check/surplus_records.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace recpack::pack {
namespace {

// One letter a record.
std::vector<RecordMark> Marks(std::string_view letters) {
  std::vector<RecordMark> marks;
  for (const char letter : letters)
    marks.push_back({.length = 5, .crc = static_cast<uint32_t>(letter)});
  return marks;
}

ShardEntries Known(std::string_view letters) {
  ShardEntries known;
  for (const RecordMark& mark : Marks(letters)) {
    known.lengths.push_back(mark.length);
    known.crcs.push_back(mark.crc);
  }
  return known;
}

using Numbers = std::vector<size_t>;

TEST(FindSurplus, IsEmptyWhereNothingIsThereTooOften) {
  for (const char* found : {"", "abcdef", "abef", "fedcba", "abcxyz"}) {
    EXPECT_EQ(FindSurplus(Marks(found), Known("abcdef")), Numbers()) << found;
  }
  EXPECT_EQ(FindSurplus(Marks("abcab"), Known("abcab")), Numbers());
}

TEST(FindSurplus, LeavesOutAStretchThatIsThereTwice) {
  const auto both = FindSurplus(Marks("abcdbcdef"), Known("abcdef"));
  EXPECT_EQ(both.size(), 3u);
  EXPECT_TRUE(both == Numbers({1, 2, 3}) || both == Numbers({4, 5, 6}));
}

TEST(FindSurplus, LeavesOutTheCopyThatIsOutOfPlace) {
  EXPECT_EQ(FindSurplus(Marks("aecdef"), Known("abcdef")), Numbers({1}));
  EXPECT_EQ(FindSurplus(Marks("abcdbf"), Known("abcdef")), Numbers({4}));
}

TEST(FindSurplus, KeepsEqualRecordsAsOftenAsTheIndexHasThem) {
  EXPECT_EQ(FindSurplus(Marks("abaca"), Known("abacad")), Numbers());
  EXPECT_EQ(FindSurplus(Marks("abacaaad"), Known("abacad")).size(), 2u);
}

TEST(FindSurplus, KeepsWhatTheIndexDoesNotKnow) {
  EXPECT_EQ(FindSurplus(Marks("axxcdd"), Known("abcd")).size(), 1u);
}

// Quadratic, this would take minutes.
TEST(FindSurplus, OfManyEqualRecords) {
  const std::string many(200'000, 'a');
  EXPECT_EQ(FindSurplus(Marks(many + "aab"), Known(many + "b")).size(), 2u);
}

TEST(FindSurplus, IsEmptyWithoutCrcs) {
  ShardEntries known = Known("ab");
  known.crcs.clear();
  EXPECT_EQ(FindSurplus(Marks("aabb"), known), Numbers());
}

}  // namespace
}  // namespace recpack::pack
