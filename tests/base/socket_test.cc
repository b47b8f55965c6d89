#include "recpack/base/socket.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <fstream>

namespace recpack {
namespace {

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(1); }

SocketAddress Here(int port) { return Resolve("127.0.0.1", port).front(); }

TEST(Socket, WhatIsSentComes) {
  const Socket listener = Listen(Here(0));
  ASSERT_TRUE(listener);
  const Socket client = Connect(LocalAddress(listener), Soon());
  ASSERT_TRUE(client);
  ASSERT_TRUE(AwaitReadable(listener, Soon()));
  const Socket server = Accept(listener);
  ASSERT_TRUE(server);
  EXPECT_EQ(PeerAddress(client).port(), LocalAddress(listener).port());
  EXPECT_EQ(PeerAddress(server).port(), LocalAddress(client).port());
  const std::array<std::byte, 3> sent = {std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<std::byte, 3> came = {};
  EXPECT_TRUE(SendAll(client, sent, Soon()));
  EXPECT_TRUE(ReceiveAll(server, came, Soon()));
  EXPECT_EQ(came, sent);
}

// The kernel chooses the local port of each connection from a range: if nobody listens on a port of
// that range, it eventually chooses that one, and the socket connects to itself.
TEST(Socket, IsNotConnectedWithItself) {
  int first = 0, last = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last;
  if (first == 0) GTEST_SKIP() << "the range of clients' ports is not told here";
  const Socket listener = Listen(Here(0));
  const int port = LocalAddress(Connect(LocalAddress(listener), Soon())).port();  // free again
  for (int i = first; i <= last; ++i) {
    const Socket socket = Connect(Here(port), Soon());
    if (!socket) continue;
    ASSERT_NE(LocalAddress(socket).port(), port) << i - first;
  }
}

}  // namespace
}  // namespace recpack
