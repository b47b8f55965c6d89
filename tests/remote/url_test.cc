#include "src/remote/url/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "src/remote/url/percent.h"

namespace recpack::remote {
namespace {

using testing::HasSubstr;

TEST(Url, TellsUrlsFromPaths) {
  for (const char* url : {"s3://b/k", "gs://b", "http://h/p", "https://h"}) EXPECT_TRUE(IsUrl(url));
  for (const char* path : {"", "s3", "s3:/b", "/a/s3://b", "file:///a", "s3x://b", "a://b"}) {
    EXPECT_FALSE(IsUrl(path)) << path;
  }
}

TEST(Url, HasItsParts) {
  const Url object = ParseUrl("s3://bucket/a folder/x?y#z");  // any character may be in a key
  EXPECT_EQ(object.scheme, "s3");
  EXPECT_EQ(object.host, "bucket");
  EXPECT_EQ(object.path, "a folder/x?y#z");
  const Url web = ParseUrl("https://host:9000/a%20b/c?X-Sig=1&b=2#part");
  EXPECT_EQ(web.host, "host:9000");
  EXPECT_EQ(web.path, "a%20b/c");
  EXPECT_EQ(web.query, "X-Sig=1&b=2");
  EXPECT_EQ(ParseUrl("s3://bucket").path, "");
}

TEST(Url, RefusesWhatIsNone) {
  const auto reason = [](const std::string& text) {
    try {
      ParseUrl(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(reason("s3:///key"), HasSubstr("has no bucket"));
  EXPECT_THAT(reason("https:///x"), HasSubstr("has no host"));
  EXPECT_THAT(reason("https://user:secret@host/x"), HasSubstr("user name"));
  EXPECT_THAT(reason("ftp://h/x"), HasSubstr("not a URL of data"));
}

TEST(Url, HidesPresignedQueries) {
  EXPECT_EQ(WithoutSecrets("https://h/x?X-Amz-Signature=abc"), "https://h/x?...");
  EXPECT_EQ(WithoutSecrets("s3://b/x?y"), "s3://b/x?y");
  EXPECT_EQ(WithoutQuery("https://h/x.tar?X-Amz-Signature=abc"), "https://h/x.tar");
  EXPECT_EQ(WithoutQuery("s3://b/x?y"), "s3://b/x?y");
  EXPECT_EQ(WithoutQuery("http-x?y"), "http-x?y");
}

TEST(Percent, EncodesAsAwsSigns) {
  EXPECT_EQ(PercentEncode("a b/c~ä+", true), "a%20b/c~%C3%A4%2B");
  EXPECT_EQ(PercentEncode("a/b", false), "a%2Fb");
  EXPECT_EQ(PercentDecode("a%20b%2Fc%C3%A4"), "a b/cä");
  EXPECT_EQ(PercentDecode("100%"), "100%");
  EXPECT_EQ(PercentDecode("%4"), "%4");
  EXPECT_EQ(PercentDecode("%zz%41"), "%zzA");
  EXPECT_EQ(PercentDecode("a+b"), "a+b");
  EXPECT_EQ(FormDecode("a+b%2Bc%20d"), "a b+c d");
}

}  // namespace
}  // namespace recpack::remote
