#include "src/train/layers/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "src/train/models/model.h"

namespace recpack::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ModelGraph kGraph = {{"user.conv", {"user_tokens"}},
                           {"user.fc", {"user.conv"}},
                           {"item.conv", {"item_tokens"}},
                           {"fm", {"user.fc", "item.conv"}},
                           {"fm.loss", {"fm", "rating"}}};

DeviceOfOperation Place(const std::string& text, const std::string& devices = "cpu:0,cpu:1") {
  return PlaceOperations(text, kGraph, ParseDevices(devices));
}

std::string MessageOf(const std::string& text) {
  try {
    Place(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Placement, PutsPartsWhereTheyAreNamedAndTheRestOnTheFirstDevice) {
  EXPECT_THAT(Place("user=cpu:1"), ElementsAre(1, 1, 0, 0, 0));
  EXPECT_THAT(Place("fm=cpu:1,item=cpu:0"), ElementsAre(0, 0, 0, 1, 1));
}

TEST(Placement, TheLongestNameCountsInWhicheverOrder) {
  for (const char* text : {"user=cpu:1,user.fc=cpu:0", "user.fc=cpu:0,user=cpu:1"}) {
    EXPECT_THAT(Place(text), ElementsAre(1, 0, 0, 0, 0)) << text;
  }
}

TEST(Placement, AlternatesOverAllDevices) {
  EXPECT_THAT(Place("alternate"), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(Place("alternate", "cpu:0,cpu:1,cpu:2"), ElementsAre(0, 1, 2, 0, 1));
}

TEST(Placement, SaysWhatIsWrong) {
  EXPECT_THAT(MessageOf("users=cpu:0"), AllOf(HasSubstr("'users'"), HasSubstr("user, item, fm")));
  EXPECT_THAT(MessageOf("us=cpu:0"), HasSubstr("no part 'us'"));
  EXPECT_THAT(MessageOf("=cpu:0"), HasSubstr("no part ''"));
  EXPECT_THAT(MessageOf("user=cuda:0"), AllOf(HasSubstr("cuda:0"), HasSubstr("cpu:0, cpu:1")));
  EXPECT_THAT(MessageOf("user=cpu:0,user=cpu:1"), HasSubstr("user is placed twice"));
  for (const char* text : {"", "towers", "user=cpu:0,", ",user=cpu:0"}) {
    EXPECT_THAT(MessageOf(text), HasSubstr("places nothing")) << text;
  }
}

TEST(Placement, IsDescribedByOperation) {
  const auto devices = ParseDevices("cpu:0,cpu:1");
  EXPECT_EQ(DescribePlacement(kGraph, Place("item=cpu:1"), devices),
            "user.conv on cpu:0 reads user_tokens there\n"
            "user.fc on cpu:0 reads user.conv there\n"
            "item.conv on cpu:1 reads item_tokens copied from cpu:0\n"
            "fm on cpu:0 reads user.fc there, item.conv copied from cpu:1\n"
            "fm.loss on cpu:0 reads fm there, rating there");
}

TEST(Placement, DeepconnsGraphHasEachOperationBehindWhatItReads) {
  std::vector<std::string> seen = {"user_tokens", "item_tokens", "rating"};
  for (const GraphOperation& operation : DeepconnGraph()) {
    for (const std::string& source : operation.reads) EXPECT_THAT(seen, testing::Contains(source));
    seen.push_back(operation.name);
  }
  EXPECT_EQ(seen.size(), 3u + 14u);
}

}  // namespace
}  // namespace recpack::train
