#include "src/probe/live/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <thread>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/probe/http_client.h"

namespace recpack::probe {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kLocal[] = "127.0.0.1:0";
const std::string kGet = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(MetricsServer, GivesWhatWasPublishedLast) {
  MetricsServer server(kLocal);
  EXPECT_THAT(Ask(server.address(), kGet), StartsWith("HTTP/1.1 503 "));
  server.Publish("one 1\n");
  EXPECT_THAT(Ask(server.address(), kGet), EndsWith("\r\n\r\none 1\n"));
  server.Publish("two 2\n");
  EXPECT_THAT(Ask(server.address(), kGet), EndsWith("\r\n\r\ntwo 2\n"));
  EXPECT_THAT(Ask(server.address(), "GET /no HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask(server.address(), "nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST(MetricsServer, ARequestMayComeInPieces) {
  MetricsServer server(kLocal);
  server.Publish("one 1\n");
  const HttpClient client(server.address());
  for (const char byte : kGet) ASSERT_TRUE(client.Send(std::string(1, byte)));
  EXPECT_THAT(client.Rest(), EndsWith("one 1\n"));
}

TEST(MetricsServer, ALongRequestIsRefused) {
  MetricsServer server(kLocal);
  server.Publish("one 1\n");
  const std::string request = "GET /metrics HTTP/1.1\r\nX: " + std::string(100'000, 'x');
  EXPECT_THAT(Ask(server.address(), request), StartsWith("HTTP/1.1 431 "));
  const HttpClient endless(server.address());
  ASSERT_TRUE(endless.Send(std::string(8192, 'x')));
  EXPECT_THAT(endless.Rest(), StartsWith("HTTP/1.1 431 "));
}

TEST(MetricsServer, ALongTextComesWhole) {
  MetricsServer server(kLocal);
  const std::string text(20'000'000, 'x');
  server.Publish(text);
  const std::string answer = Ask(server.address(), kGet);
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, text.size());
}

TEST(MetricsServer, ClientsThatDoNothingHoldUpNobody) {
  MetricsServer server(kLocal, {.most_connections = 4, .patience = std::chrono::hours(1)});
  server.Publish("one 1\n" + std::string(20'000'000, 'x'));
  std::deque<HttpClient> idle;
  for (int i = 0; i < 10; ++i) {
    idle.emplace_back(server.address());
    ASSERT_TRUE(idle.back().Send(i % 2 == 0 ? "GET /met" : kGet));  // the others do not read
    EXPECT_THAT(Ask(server.address(), "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  }
  EXPECT_THAT(idle.front().Rest(), IsEmpty()) << "the oldest one made room";
}

TEST(MetricsServer, AConnectionThatIsNotDoneInTimeIsEnded) {
  MetricsServer server(kLocal, {.patience = std::chrono::milliseconds(20)});
  const HttpClient client(server.address());
  EXPECT_THAT(client.Rest(), IsEmpty());
}

TEST(MetricsServer, EndsWithConnectionsOpen) {
  std::deque<HttpClient> clients;
  {
    const MetricsServer server(kLocal);
    for (int i = 0; i < 3; ++i) clients.emplace_back(server.address());
    EXPECT_THAT(Ask(server.address(), "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  }
  for (const HttpClient& client : clients) EXPECT_THAT(client.Rest(), IsEmpty());
}

TEST(MetricsServer, ClientsThatGoAwayAreNoHarm) {
  MetricsServer server(kLocal);
  server.Publish(std::string(20'000'000, 'x'));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(HttpClient(server.address()).Send(kGet));
  EXPECT_THAT(Ask(server.address(), "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST(MetricsServer, IsAskedWhileFiguresChange) {
  MetricsServer server(kLocal);
  server.Publish("figure 0\n");
  std::atomic<bool> done = false;
  std::thread asks([&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_THAT(Ask(server.address(), kGet), HasSubstr("\r\n\r\nfigure "));
    }
    done = true;
  });
  for (int i = 0; !done; ++i) server.Publish("figure " + std::to_string(i) + "\n");
  asks.join();
}

TEST(MetricsServer, ListensAtAddressesOfBothKinds) {
  const Socket v6(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (v6 && Listen(Resolve("::1", 0).front())) {
    MetricsServer server("[::1]:0");
    EXPECT_THAT(server.address(), StartsWith("[::1]:"));
    server.Publish("one 1\n");
    EXPECT_THAT(Ask(server.address(), kGet), EndsWith("one 1\n"));
  }
  MetricsServer all("0.0.0.0:0");
  all.Publish("one 1\n");
  const std::string port = all.address().substr(all.address().find(':'));
  EXPECT_NE(port, ":0");
  EXPECT_THAT(Ask("127.0.0.1" + port, kGet), EndsWith("one 1\n"));
}

TEST(MetricsServer, APortInUseIsAnError) {
  const MetricsServer first(kLocal);
  const Error error = ErrorOf([&] { MetricsServer second(first.address()); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr(first.address()));
  EXPECT_THAT(error.what(), HasSubstr("another port"));
}

TEST(MetricsServer, WhatIsNoAddress) {
  for (const char* address : {"", "9401", ":9401", "localhost", "localhost:", "localhost:x",
                              "localhost:70000", "localhost:-1", "::1:9401", "[]:9401"}) {
    const Error error = ErrorOf([&] { MetricsServer server(address); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << address;
    EXPECT_THAT(error.what(), HasSubstr("HOST:PORT")) << address;
  }
  EXPECT_EQ(ErrorOf([] { MetricsServer server("no.such.host.invalid:0"); }).kind(),
            ErrorKind::kNotFound);
  // TEST-NET-1 (RFC 5737): no machine has this address.
  EXPECT_THAT(ErrorOf([] { MetricsServer server("192.0.2.1:0"); }).what(),
              HasSubstr("an address of this machine"));
}

}  // namespace
}  // namespace recpack::probe
