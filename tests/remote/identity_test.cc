#include "src/remote/identity/identity.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "src/remote/identity/answers.h"

namespace recpack::remote {
namespace {

TEST(TextOf, IsEmptyWithoutText) {
  const auto object = ParseObject(R"({"a": "\u00e9\n", "b": 12, "c": null})", "a test");
  EXPECT_EQ(TextOf(object, "a"), "\u00e9\n");
  for (const char* key : {"b", "c", "missing"}) EXPECT_EQ(TextOf(object, key), "");
  EXPECT_EQ(TextOf(nlohmann::json::array(), "a"), "");
}

TEST(ParseObject, RefusesOthers) {
  for (const char* text : {"", "{", "[]", "1", "{\"a\": \"\xff\"}"}) {
    EXPECT_THROW(ParseObject(text, "a test"), Error) << text;
  }
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
