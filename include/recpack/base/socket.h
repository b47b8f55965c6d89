// TCP sockets with deadlines.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace recpack {

using Deadline = std::chrono::steady_clock::time_point;

// Returns the milliseconds until `deadline`, for poll(): 0 once it has passed, 60000 at most.
int PollTime(Deadline deadline) noexcept;

// Owning socket descriptor; may be empty.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) noexcept : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// IPv4 or IPv6 address with a port.
struct SocketAddress {
  sockaddr_storage data = {};
  socklen_t size = 0;

  int port() const noexcept;
  void set_port(int port) noexcept;
  std::string Host() const;  // numeric
  bool loopback() const;
  SocketAddress Any() const;  // wildcard address of the same family and port
};

// Resolves a host name. Throws Error (kNotFound).
std::vector<SocketAddress> Resolve(const std::string& host, int port);

// Addresses of the two ends of a connected socket; of family AF_UNSPEC on failure.
SocketAddress LocalAddress(const Socket& socket);
SocketAddress PeerAddress(const Socket& socket);

// On failure these return an empty socket and set errno.
Socket Listen(const SocketAddress& address) noexcept;
Socket Connect(const SocketAddress& address, Deadline deadline) noexcept;
Socket Accept(const Socket& listener) noexcept;  // does not block

// Waits until data can be read or the peer has closed. Returns false at the deadline.
bool AwaitReadable(const Socket& socket, Deadline deadline) noexcept;

// Transfer all of `data`. Return false on an error or at the deadline.
bool SendAll(const Socket& socket, std::span<const std::byte> data, Deadline deadline) noexcept;
bool ReceiveAll(const Socket& socket, std::span<std::byte> data, Deadline deadline) noexcept;

// Returns the bytes of a fixed-size message.
template <typename Message>
std::span<const std::byte> MessageBytes(const Message& message) noexcept {
  return std::as_bytes(std::span(&message, 1));
}
template <typename Message>
std::span<std::byte> MessageBytes(Message& message) noexcept {
  return std::as_writable_bytes(std::span(&message, 1));
}

}  // namespace recpack
