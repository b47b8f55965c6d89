// Vectors that AWS publishes: those of S3's examples ("Signature Calculations for the Authorization
// Header", docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html) and of the test
// suite of Signature Version 4 (get-vanilla and get-vanilla-query-order-key-case).
#include "src/remote/sign/sign_v4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recpack::remote {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string Authorization(const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name == "authorization") return value;
  }
  return {};
}

const Credentials kS3Example = {.access = "AKIAIOSFODNN7EXAMPLE",
                                .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr int64_t kS3Time = 1369353600;  // 2013-05-24T00:00:00Z

std::string S3Signature(const RequestToSign& request) {
  return Authorization(SignV4(request, {.region = "us-east-1", .time = kS3Time}, kS3Example));
}

TEST(SignV4, GetsARangeOfAnObject) {
  const std::string signature = S3Signature({.method = "GET",
                                             .host = "examplebucket.s3.amazonaws.com",
                                             .path = "/test.txt",
                                             .query = {},
                                             .headers = {{"Range", "bytes=0-9"}}});
  EXPECT_EQ(signature,
            "AWS4-HMAC-SHA256 "
            "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SignV4, SignsQueries) {
  EXPECT_THAT(S3Signature({.method = "GET",
                           .host = "examplebucket.s3.amazonaws.com",
                           .path = "/",
                           .query = {{"prefix", "J"}, {"max-keys", "2"}},
                           .headers = {}}),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
  EXPECT_THAT(S3Signature({.method = "GET",
                           .host = "examplebucket.s3.amazonaws.com",
                           .path = "/",
                           .query = {{"lifecycle", ""}},
                           .headers = {}}),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(SignV4, AgreesWithTheTestSuite) {
  const Credentials by = {.access = "AKIDEXAMPLE",
                          .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  const SigningScope scope = {.region = "us-east-1", .service = "service", .time = 1440938160};
  RequestToSign request = {
      .method = "GET", .host = "example.amazonaws.com", .path = "/", .query = {}, .headers = {}};
  EXPECT_THAT(Authorization(SignV4(request, scope, by)),
              EndsWith("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
  request.query = {{"Param2", "value2"}, {"Param1", "value1"}};
  EXPECT_THAT(Authorization(SignV4(request, scope, by)),
              EndsWith("b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"));
}

TEST(SignV4, SignsTheTokenOfTemporaryCredentials) {
  Credentials by = kS3Example;
  by.token = "temporary";
  const auto headers =
      SignV4({.method = "GET", .host = "h", .path = "/", .query = {}, .headers = {}},
             {.region = "us-east-1", .time = kS3Time}, by);
  EXPECT_THAT(headers, testing::Contains(testing::Pair("x-amz-security-token", "temporary")));
  EXPECT_THAT(Authorization(headers), HasSubstr("x-amz-date;x-amz-security-token,"));
}

// No vectors of requests with headers are published for Google's names. This signature comes from a
// program of its own, after cloud.google.com/storage/docs/authentication/signatures.
TEST(SignV4, HasGooglesNames) {
  const auto headers =
      SignV4({.method = "PUT",
              .host = "storage.googleapis.com",
              .path = "/bucket/a%20b",
              .query = {},
              .headers = {{"x-goog-if-generation-match", "0"}}},
             {.dialect = Dialect::kGoogle, .region = "auto", .service = "storage", .time = kS3Time},
             {.access = "GOOG1EXAMPLE", .secret = "secret"});
  EXPECT_THAT(headers, testing::Contains(testing::Pair("x-goog-date", "20130524T000000Z")));
  EXPECT_EQ(Authorization(headers),
            "GOOG4-HMAC-SHA256 "
            "Credential=GOOG1EXAMPLE/20130524/auto/storage/goog4_request, "
            "SignedHeaders=host;x-goog-content-sha256;x-goog-date;x-goog-if-generation-match, "
            "Signature=144ee5bbb4f986dfc1b99f1b6dd2d5b4ce7862bf4cdca32aebd1fb4e52c54fb4");
}

TEST(SignV4, EncodesQueriesInOrder) {
  EXPECT_EQ(CanonicalQuery({{"b", "/ ä"}, {"a", ""}, {"a b", "~"}}), "a=&a%20b=~&b=%2F%20%C3%A4");
}

}  // namespace
}  // namespace recpack::remote
