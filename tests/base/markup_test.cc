#include <gtest/gtest.h>

#include "recpack/base/text.h"

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

}  // namespace
}  // namespace recpack
