// Tests that only real nesting counts towards the limit on JSON depth.
#include <gtest/gtest.h>

#include <string>

#include "recpack/base/text.h"

namespace recpack {
namespace {

std::string Nested(size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(JsonLevelsTest, CountsBracketsThatAreOpen) {
  EXPECT_FALSE(NestsTooDeep(""));
  EXPECT_FALSE(NestsTooDeep(Nested(kMostJsonLevels)));
  EXPECT_TRUE(NestsTooDeep(Nested(kMostJsonLevels + 1)));
  EXPECT_TRUE(NestsTooDeep(std::string(1'000'000, '[')));
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[{}],";
  EXPECT_FALSE(NestsTooDeep(wide));
}

TEST(JsonLevelsTest, LeavesStringsOut) {
  EXPECT_FALSE(NestsTooDeep("[\"" + std::string(1000, '[') + "\"]"));
  EXPECT_FALSE(NestsTooDeep(R"(["\")" + std::string(1000, '{') + "\"]"));
  EXPECT_TRUE(NestsTooDeep(R"(["\\")" + std::string(1000, '{') + "\"]"));
}

}  // namespace
}  // namespace recpack
