#include "src/remote/http/xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recpack::remote {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Xml, FindsElements) {
  const std::string xml =
      "<?xml version=\"1.0\"?><R><C><Key>a</Key><Size>1</Size></C><C><Key>b</Key></C></R>";
  EXPECT_THAT(Elements(xml, "C"), ElementsAre("<Key>a</Key><Size>1</Size>", "<Key>b</Key>"));
  EXPECT_EQ(FirstElement(xml, "Key"), "a");
  EXPECT_EQ(FirstElement(xml, "Missing"), "");
}

TEST(Xml, ReplacesEntities) {
  EXPECT_EQ(FirstElement("<M>a &lt;b&gt; &amp;amp; &quot;c&apos; &x</M>", "M"),
            "a <b> &amp; \"c' &x");
}

TEST(Xml, EndsAtWhatIsNotWellFormed) {
  EXPECT_THAT(Elements("<C>a</C><C>b", "C"), ElementsAre("a"));
  EXPECT_THAT(Elements("", "C"), IsEmpty());
  EXPECT_THAT(Elements("</C><C", "C"), IsEmpty());
}

}  // namespace
}  // namespace recpack::remote
