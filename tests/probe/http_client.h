// HTTP client for tests of servers.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <span>
#include <string>

#include "recpack/base/socket.h"

namespace recpack::probe {

// One connection to a server of this machine, as "127.0.0.1:80" or "[::1]:80".
class HttpClient {
 public:
  explicit HttpClient(const std::string& address) {
    const size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    socket_ = Connect(Resolve(host, std::stoi(address.substr(colon + 1))).front(), Deadline());
  }

  bool connected() const { return static_cast<bool>(socket_); }
  bool Send(const std::string& bytes) const {
    return SendAll(socket_, std::as_bytes(std::span(bytes)), Deadline());
  }
  // Up to the end of the connection.
  std::string Rest() const {
    std::string all;
    std::array<char, 4096> buffer;
    while (AwaitReadable(socket_, Deadline())) {
      const ssize_t came = ::recv(socket_.fd(), buffer.data(), buffer.size(), 0);
      if (came <= 0) break;
      all.append(buffer.data(), static_cast<size_t>(came));
    }
    return all;
  }

 private:
  // Far off: a test that waits for it has failed.
  static recpack::Deadline Deadline() {
    return std::chrono::steady_clock::now() + std::chrono::minutes(1);
  }

  Socket socket_;
};

inline std::string Ask(const std::string& address, const std::string& request) {
  const HttpClient client(address);
  return client.Send(request) ? client.Rest() : "not sent";
}

}  // namespace recpack::probe
