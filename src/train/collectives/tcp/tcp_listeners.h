// Addresses at which the ranks of a TCP collective listen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recpack/base/socket.h"

namespace recpack::train {

// Rank 0 sends the table on control connections, behind a Notice that reports no failure.
class TcpListeners {
 public:
  explicit TcpListeners(size_t ranks) : listeners_(ranks) {}

  void Set(int rank, const SocketAddress& address, uint32_t port) {
    Listener& listener = listeners_[static_cast<size_t>(rank)];
    listener = {.port = port};
    const std::string host = address.Host();
    std::copy_n(host.data(), std::min(host.size(), sizeof listener.host - 1), listener.host);
  }

  SocketAddress Address(int rank) const {
    const Listener& listener = listeners_[static_cast<size_t>(rank)];
    const SocketAddress address = Resolve(listener.host, static_cast<int>(listener.port)).front();
    // If rank 0 sees a rank at a loopback address, that rank runs on rank 0's machine.
    if (!address.loopback()) return address;
    return Resolve(listeners_[0].host, static_cast<int>(listener.port)).front();
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(listeners_)); }
  std::span<std::byte> writable_bytes() { return std::as_writable_bytes(std::span(listeners_)); }

 private:
  struct Listener {
    char host[60] = "";
    uint32_t port = 0;
  };

  std::vector<Listener> listeners_;
};

}  // namespace recpack::train
