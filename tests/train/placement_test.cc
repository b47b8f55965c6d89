#include "src/train/layers/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Placement, NamesMayHaveWildcards) {
  EXPECT_THAT(Place("*.conv=cpu:1"), ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(Place("?m=cpu:1"), ElementsAre(0, 0, 0, 1, 1)) << "a part of the graph";
  EXPECT_THAT(Place("*=cpu:1"), ElementsAre(1, 1, 1, 1, 1));
  for (const char* text : {"*=cpu:1,user.*=cpu:0", "user.*=cpu:0,*=cpu:1"}) {
    EXPECT_THAT(Place(text), ElementsAre(0, 0, 1, 1, 1)) << text;
  }
  EXPECT_THAT(MessageOf("*.pool=cpu:1"), HasSubstr("no part '*.pool'"));
  EXPECT_THAT(MessageOf("*.conv=cpu:1,user.*=cpu:0"),
              HasSubstr("user.conv is placed by '*.conv' and by 'user.*'"));
}

TEST(Placement, AlternatesOverAllDevices) {
  EXPECT_THAT(Place("alternate"), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(Place("alternate", "cpu:0,cpu:1,cpu:2"), ElementsAre(0, 1, 2, 0, 1));
}

TEST(Placement, SaysWhatIsWrong) {
  EXPECT_THAT(MessageOf("users=cpu:0"), AllOf(HasSubstr("'users'"), HasSubstr("user, item, fm")));
  EXPECT_THAT(MessageOf("us=cpu:0"), HasSubstr("no part 'us'"));
  EXPECT_THAT(MessageOf("user.conv.weight=cpu:1"),
              AllOf(HasSubstr("user.conv.weight is inside user.conv"), HasSubstr("as a whole")));
  EXPECT_THAT(MessageOf("=cpu:0"), HasSubstr("no part ''"));
  EXPECT_THAT(MessageOf("user=cuda:0"), AllOf(HasSubstr("cuda:0"), HasSubstr("cpu:0, cpu:1")));
  EXPECT_THAT(MessageOf("user=cpu:0,user=cpu:1"),
              HasSubstr("user.conv is placed by 'user' and by 'user'"));
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

TEST(Placement, OfWholeModelsIsDescribedByOperationToo) {
  EXPECT_EQ(DescribeWhole({{"conv1", {"image"}}, {"loss", {"conv1", "label"}}},
                          ParseDevices("cpu:0,cuda:1")),
            "conv1 on cpu:0, cuda:1 reads image there\n"
            "loss on cpu:0, cuda:1 reads conv1 there, label there");
}

TEST(Placement, EveryModelsGraphBeginsWithItsBatchAndEndsWithItsLoss) {
  const ModelContext context{.batch = 2};
  for (const auto& model : {MakeResnet(context, {}), MakeAlexnet(context, {}),
                            MakeVgg(context, {.depth = 11}), MakeGooglenet(context, {})}) {
    const ModelGraph graph = model->Graph();
    std::vector<std::string> seen = {"image", "label"};
    for (const GraphOperation& operation : graph) {
      for (const std::string& source : operation.reads) {
        EXPECT_THAT(seen, testing::Contains(source));
      }
      seen.push_back(operation.name);
    }
    EXPECT_EQ(graph.back().name, "loss");
    for (const VariableSpec& variable : model->variables().specs()) {
      EXPECT_TRUE(std::ranges::any_of(graph, [&](const GraphOperation& operation) {
        return variable.name.starts_with(operation.name + ".");
      })) << variable.name;
    }
  }
}

TEST(Placement, DeepconnsGraphHasEachOperationBehindWhatItReads) {
  for (const WordTables tables : {WordTables::kShared, WordTables::kSeparate}) {
    std::vector<std::string> seen = {"user_tokens", "item_tokens", "rating"};
    for (const GraphOperation& operation : DeepconnGraph({.tables = tables})) {
      for (const std::string& source : operation.reads) {
        EXPECT_THAT(seen, testing::Contains(source));
      }
      seen.push_back(operation.name);
    }
    EXPECT_EQ(seen.size(), 3u + (tables == WordTables::kShared ? 13u : 14u));
  }
  EXPECT_EQ(DeepconnGraph({.pool_window = 2}).size(), 13u + 2u) << "both towers flatten";
}

}  // namespace
}  // namespace recpack::train
