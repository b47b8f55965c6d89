#include "src/train/collectives/tcp/tcp_host.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

// interval of attempts until rank 0 listens
constexpr auto kRetry = std::chrono::milliseconds(50);
// per address, before the next one is tried
constexpr auto kAttempt = std::chrono::milliseconds(5'000);

std::string HostText(const TcpOptions& where) { return format("{}:{}", where.address, where.port); }

}  // namespace

Error ConnectError(const std::string& reason, const std::string& advice) {
  return {ErrorKind::kIo, reason, {}, advice};
}

SocketAddress ReachableAddress(const TcpOptions& where, const SocketAddress& own) {
  const std::string& name = where.address;
  const bool here_only = name == "localhost" || name == "::1" || name.starts_with("127.");
  return own.loopback() && !here_only ? own.Any() : own;
}

Socket ListenAsHost(const TcpOptions& where) {
  const std::vector<SocketAddress> addresses = Resolve(where.address, where.port);
  Socket socket;
  for (size_t i = 0; i < addresses.size() && !socket; ++i) {
    socket = Listen(ReachableAddress(where, addresses[i]));
  }
  // The address may belong to this machine only as seen from outside.
  if (!socket && errno == EADDRNOTAVAIL) socket = Listen(addresses[0].Any());
  if (socket) return socket;
  throw ConnectError(format("{}: listen: {}", HostText(where), std::strerror(errno)),
                     errno == EADDRINUSE ? "choose another port (MASTER_PORT)" : "");
}

Socket ConnectToHost(const TcpOptions& where, std::chrono::milliseconds timeout,
                     Deadline deadline) {
  int error = 0;
  do {
    for (const SocketAddress& address : Resolve(where.address, where.port)) {
      const auto now = std::chrono::steady_clock::now();
      Socket socket = Connect(address, std::min(deadline, now + kAttempt));
      if (socket) return socket;
      error = errno;
    }
    std::this_thread::sleep_for(kRetry);
  } while (std::chrono::steady_clock::now() < deadline);
  throw ConnectError(format("rank 0 did not answer at {} within {} ms: {}", HostText(where),
                            timeout.count(), std::strerror(error)),
                     "check that rank 0 runs, and that MASTER_ADDR and MASTER_PORT are its");
}

}  // namespace recpack::train
