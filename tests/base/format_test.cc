#include "src/base/format.h"

#include <gtest/gtest.h>

namespace recpack {
namespace {

TEST(FormatTest, Bytes) {
  EXPECT_EQ(BytesText(812.0), "812 B");
  EXPECT_EQ(BytesText(uint64_t{61'440'000}), "61.4 MB");
  EXPECT_EQ(BytesText(999'960.0), "1.0 MB");
}

TEST(FormatTest, Counts) {
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1'234'567), "1,234,567");
}

TEST(FormatTest, Durations) {
  EXPECT_EQ(DurationText(0.538), "0.54 s");
  EXPECT_EQ(DurationText(37.6), "38 s");
  EXPECT_EQ(DurationText(119.9), "120 s");
  EXPECT_EQ(DurationText(14 * 60.0), "14 min");
  EXPECT_EQ(DurationText(3.25 * 3600), "3.2 h");
}

TEST(FormatTest, Shares) {
  EXPECT_EQ(Percent(0.1234), "12.3 %");
  EXPECT_EQ(Percent(0.1234, 2), "12.34 %");
  EXPECT_EQ(Percent(0.995, 0), "100 %");
}

}  // namespace
}  // namespace recpack
