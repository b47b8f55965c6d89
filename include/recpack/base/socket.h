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

// Milliseconds up to it, for poll(): 0 once it has passed, a minute at most.
int PollTime(Deadline deadline) noexcept;

// A file descriptor of its own, or none.
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

struct SocketAddress {
  sockaddr_storage data = {};
  socklen_t size = 0;

  int port() const noexcept;
  void set_port(int port) noexcept;
  std::string Host() const;  // as numbers
  bool loopback() const;
  SocketAddress Any() const;  // all of this machine's addresses of the same family, same port
};

// What a name stands for. Throws Error (kNotFound).
std::vector<SocketAddress> Resolve(const std::string& host, int port);

SocketAddress LocalAddress(const Socket& socket);
SocketAddress PeerAddress(const Socket& socket);

// These give an empty socket and set errno if they fail.
Socket Listen(const SocketAddress& address) noexcept;
Socket Connect(const SocketAddress& address, Deadline deadline) noexcept;
Socket Accept(const Socket& listener) noexcept;  // does not wait

// Whether there is something to read or the other side has closed, before the deadline.
bool AwaitReadable(const Socket& socket, Deadline deadline) noexcept;

// All of it before the deadline, or false.
bool SendAll(const Socket& socket, std::span<const std::byte> data, Deadline deadline) noexcept;
bool ReceiveAll(const Socket& socket, std::span<std::byte> data, Deadline deadline) noexcept;

// The bytes of a message of fixed size.
template <typename Message>
std::span<const std::byte> MessageBytes(const Message& message) noexcept {
  return std::as_bytes(std::span(&message, 1));
}
template <typename Message>
std::span<std::byte> MessageBytes(Message& message) noexcept {
  return std::as_writable_bytes(std::span(&message, 1));
}

}  // namespace recpack
