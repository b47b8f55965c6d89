#include "src/probe/util/reading.h"

#include <gtest/gtest.h>

#include <string>

namespace recpack::probe {
namespace {

TEST(ReadingTest, IsAValueOrAReason) {
  const Reading<int> value = 0;
  EXPECT_TRUE(value);
  EXPECT_EQ(*value, 0);
  EXPECT_EQ(value.reason(), "");
  const Reading<int> none = Unavailable{"no permission"};
  EXPECT_FALSE(none);
  EXPECT_EQ(none.reason(), "no permission");
  EXPECT_NE(value, none);
}

TEST(ReadingTest, ATextIsNoReason) {
  const Reading<std::string> name = std::string("H200");
  ASSERT_TRUE(name);
  EXPECT_EQ(*name, "H200");
}

TEST(ReadingTest, WhatNobodyReadHasAReasonToo) {
  EXPECT_FALSE(Reading<double>());
  EXPECT_NE(Reading<double>().reason(), "");
}

}  // namespace
}  // namespace recpack::probe
