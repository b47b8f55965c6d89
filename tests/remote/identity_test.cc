#include "src/remote/identity/identity.h"

#include <gtest/gtest.h>

#include "src/remote/identity/flat_json.h"

namespace recpack::remote {
namespace {

TEST(FlatJson, FindsStringsAndNumbers) {
  const std::string json =
      R"({"a" : "A\\\"\/", "b":{"c": 12 ,"d":"a"}, "e": ["f"], "f": "F" , "g": null})";
  EXPECT_EQ(JsonText(json, "a"), "A\\\"/");
  EXPECT_EQ(JsonText(json, "c"), "12");
  EXPECT_EQ(JsonText(json, "d"), "a");
  EXPECT_EQ(JsonText(json, "f"), "F");
  EXPECT_EQ(JsonText(json, "missing"), "");
}

TEST(FlatJson, EndsWithWhatIsNotComplete) {
  EXPECT_EQ(JsonText(R"({"a": "b)", "a"), "");
  EXPECT_EQ(JsonText(R"({"a)", "a"), "");
  EXPECT_EQ(JsonText(R"({"a": "\)", "a"), "");
  EXPECT_EQ(JsonText("", "a"), "");
}

TEST(ParseTime, ReadsUtc) {
  EXPECT_EQ(ParseTime("2013-05-24T00:00:00Z"), 1369353600);
  EXPECT_EQ(ParseTime(""), 0);
  EXPECT_EQ(ParseTime("soon"), 0);
}

TEST(Identity, KeepsFixedCredentials) {
  StoreSettings settings;
  settings.credentials = Credentials{.access = "A", .secret = "B"};
  settings.source = "a test";
  const Identity identity(settings, [](const char*) { return std::string(); });
  EXPECT_EQ(identity.Get()->access, "A");
  EXPECT_EQ(identity.source(), "a test");
}

TEST(Identity, IsAnonymousOnRequest) {
  StoreSettings settings;
  settings.anonymous = true;
  EXPECT_FALSE(Identity(settings, [](const char*) { return std::string(); }).Get());
}

}  // namespace
}  // namespace recpack::remote
