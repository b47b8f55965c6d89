#include "recpack/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace recpack {
namespace {

using namespace std::string_literals;

TEST(EscapedMarkup, LeavesNoTextThatAParserTakesForMore) {
  EXPECT_EQ(EscapedMarkup("<b a=\"x\" c='y'>&amp;</b>"),
            "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(EscapedMarkup(""), "");
  EXPECT_EQ(EscapedMarkup("größer"), "größer");
}

TEST(EscapedMarkup, HasNoCharacterThatXmlForbids) {
  EXPECT_EQ(EscapedMarkup("a\0b\x1b[1m\r\n\tc"s), "a b [1m \n\tc");
}

TEST(NearestName, NeedsLessThanHalfOfTheWord) {
  EXPECT_EQ(NearestName("phtos", {"videos", "photos", "pictures"}), "photos");
  EXPECT_EQ(NearestName("data", {"date", "data"}), "data");
  EXPECT_EQ(NearestName("abc", {"xyz", "abcdef"}), "");
  EXPECT_EQ(NearestName("", {"a"}), "");
  EXPECT_EQ(NearestName("a", {}), "");
}

TEST(JoinNames, ListsAllOfAFew) {
  EXPECT_EQ(JoinNames(std::vector<std::string>{}), "");
  EXPECT_EQ(JoinNames(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(JoinNames(std::vector<std::string_view>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(JoinNames(std::vector{1, 2}, [](int number) { return std::to_string(number); }),
            "1, 2");
}

TEST(JoinNames, CountsTheRestOfMany) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(JoinNames(names, {}, 3), "a, b, c");
  EXPECT_EQ(JoinNames(names, {}, 2), "a, b and 1 more");
  const std::string text = JoinNames(std::vector<std::string>(100'000, "name"));
  EXPECT_TRUE(text.ends_with(", name and 99980 more")) << text;
}

}  // namespace
}  // namespace recpack
