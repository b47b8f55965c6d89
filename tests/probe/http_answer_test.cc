#include "src/probe/live/http_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recpack::probe {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kText[] = "figure 1\n";

TEST(HttpAnswer, GivesTheFigures) {
  const std::string answer = HttpAnswer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", kText);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nfigure 1\n"));
}

TEST(HttpAnswer, ToHeadHasNoBody) {
  const std::string answer = HttpAnswer("HEAD /metrics HTTP/1.1\r\n\r\n", kText);
  EXPECT_THAT(answer, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(HttpAnswer, WaysOfWritingTheSame) {
  for (const char* head :
       {"GET /metrics?x=1 HTTP/1.1\r\n\r\n", "GET http://a:1/metrics HTTP/1.1\r\n\r\n",
        "GET /metrics HTTP/1.0\r\n\r\n", "GET /metrics HTTP/1.1\nHost: x\n\n"}) {
    EXPECT_THAT(HttpAnswer(head, kText), StartsWith("HTTP/1.1 200 ")) << head;
  }
}

TEST(HttpAnswer, OtherPathsAndMethods) {
  EXPECT_THAT(HttpAnswer("GET / HTTP/1.1\r\n\r\n", kText), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(HttpAnswer("GET /metricsx HTTP/1.1\r\n\r\n", kText), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(HttpAnswer("GET http://a HTTP/1.1\r\n\r\n", kText), StartsWith("HTTP/1.1 404 "));
  const std::string posted = HttpAnswer("POST /metrics HTTP/1.1\r\n\r\n", kText);
  EXPECT_THAT(posted, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(posted, HasSubstr("Allow: GET, HEAD\r\n"));
}

TEST(HttpAnswer, BeforeThereAreFigures) {
  EXPECT_THAT(HttpAnswer("GET /metrics HTTP/1.1\r\n\r\n", ""), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpAnswer, WhatIsNoRequest) {
  for (const char* head :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/2.0\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "G(T /metrics HTTP/1.1\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", "GET /metrics HTTP/1.1\r\n: x\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nbad name: x\r\n\r\n", "GET /metrics HTTP/1.11\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n"}) {
    EXPECT_THAT(HttpAnswer(head, kText), StartsWith("HTTP/1.1 400 ")) << head;
  }
}

TEST(HttpAnswer, EveryPrefixOfAHeadIsNotAllOfIt) {
  const std::string head = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
  for (size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(HttpHeadEnd(head.substr(0, size)), std::string::npos) << size;
  }
  EXPECT_EQ(HttpHeadEnd(head), head.size());
  EXPECT_EQ(HttpHeadEnd(head + "more"), head.size());
  EXPECT_EQ(HttpHeadEnd("a\n\nb"), 3u);
}

}  // namespace
}  // namespace recpack::probe
