#include "src/shards/manifest/name_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/format.h"

namespace recpack {
namespace {

std::vector<std::string> Copy(const NameList& list) { return {list.begin(), list.end()}; }

TEST(NameListTest, GivesBackWhateverNamesItHolds) {
  const std::vector<std::string> names = {"train-00000-of-00003.tfrecord",
                                          "train-00001-of-00003.tfrecord",
                                          "train-00003-of-00003.tfrecord",  // one is missing
                                          "train-00004-of-00004.tfrecord",  // another total
                                          "train-4-of-00004.tfrecord",
                                          "train-4-of-00004.tfrecord",  // twice
                                          "9.mp4",
                                          "10.mp4",
                                          "a8",
                                          "a9",
                                          "a10",
                                          "a11",
                                          "b012",
                                          "b13",
                                          "-of-",
                                          "7-of-",
                                          "",
                                          "plain",
                                          "plain",
                                          "99999999999999999999999",
                                          "00",
                                          "1/2-of-3/x",
                                          "/data/5/part-0099-of-0101.gz",
                                          "/data/5/part-0100-of-0101.gz"};
  const NameList list(names);
  EXPECT_EQ(Copy(list), names);
  for (const auto& name : names) {
    EXPECT_EQ(list.Find(name), std::ranges::find(names, name) - names.begin()) << name;
  }
  for (const char* name : {"train-00002-of-00003.tfrecord", "train-0000-of-00003.tfrecord", "a12",
                           "08.mp4", "11.mp4", "plai"}) {
    EXPECT_EQ(list.Find(name), std::nullopt) << name;
  }
}

TEST(NameListTest, CountsPastTheWidthOfItsNumbers) {
  std::vector<std::string> names;
  for (int i = 99'990; i < 100'010; ++i) names.push_back(format("s-{:05}-of-400000", i));
  EXPECT_EQ(Copy(NameList(names)), names);
}

TEST(NameListTest, EqualsAListOfTheSameNames) {
  EXPECT_EQ(NameList({"a1", "a2"}), NameList({"a1", "a2"}));
  EXPECT_NE(NameList({"a1", "a2"}), NameList({"a1", "a3"}));
  EXPECT_NE(NameList({"a1", "a2"}), NameList({"a1"}));
}

}  // namespace
}  // namespace recpack
