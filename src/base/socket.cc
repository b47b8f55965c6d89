#include "recpack/base/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr int kBacklog = 4096;

const sockaddr* Sockaddr(const SocketAddress& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address.data);
}
sockaddr* Sockaddr(SocketAddress& address) noexcept {
  return reinterpret_cast<sockaddr*>(&address.data);
}

bool IsV6(const SocketAddress& address) noexcept { return address.data.ss_family == AF_INET6; }

sockaddr_in& V4(SocketAddress& address) noexcept {
  return reinterpret_cast<sockaddr_in&>(address.data);
}
sockaddr_in6& V6(SocketAddress& address) noexcept {
  return reinterpret_cast<sockaddr_in6&>(address.data);
}

void SetOption(const Socket& socket, int level, int option) noexcept {
  const int on = 1;
  setsockopt(socket.fd(), level, option, &on, sizeof on);
}

// Waits for events on a socket. Returns false at the deadline.
bool Await(const Socket& socket, int16_t events, Deadline deadline) noexcept {
  pollfd entry{socket.fd(), events, 0};
  do {
    const int ready = poll(&entry, 1, PollTime(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  } while (std::chrono::steady_clock::now() < deadline);
  errno = ETIMEDOUT;
  return false;
}

// Waits for a connection to complete. Returns an errno value, 0 on success.
int FinishConnect(const Socket& socket, Deadline deadline) noexcept {
  if (!Await(socket, POLLOUT, deadline)) return errno;
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

}  // namespace

int PollTime(Deadline deadline) noexcept {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

int SocketAddress::port() const noexcept {
  SocketAddress copy = *this;
  return ntohs(IsV6(copy) ? V6(copy).sin6_port : V4(copy).sin_port);
}

void SocketAddress::set_port(int port) noexcept {
  (IsV6(*this) ? V6(*this).sin6_port : V4(*this).sin_port) = htons(static_cast<uint16_t>(port));
}

std::string SocketAddress::Host() const {
  char text[NI_MAXHOST] = "";
  getnameinfo(Sockaddr(*this), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

bool SocketAddress::loopback() const {
  const std::string host = Host();
  return host.starts_with("127.") || host == "::1" || host.starts_with("::ffff:127.");
}

SocketAddress SocketAddress::Any() const {
  SocketAddress any = *this;
  if (IsV6(any)) {
    V6(any).sin6_addr = in6addr_any;
  } else {
    V4(any).sin_addr.s_addr = htonl(INADDR_ANY);
  }
  return any;
}

std::vector<SocketAddress> Resolve(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    throw Error(ErrorKind::kNotFound, format("address '{}': {}", host, gai_strerror(error)));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress address{.size = entry->ai_addrlen};
    std::memcpy(&address.data, entry->ai_addr, entry->ai_addrlen);
    address.set_port(port);
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

SocketAddress LocalAddress(const Socket& socket) {
  SocketAddress address{.size = sizeof(sockaddr_storage)};
  getsockname(socket.fd(), Sockaddr(address), &address.size);
  return address;
}

SocketAddress PeerAddress(const Socket& socket) {
  SocketAddress address{.size = sizeof(sockaddr_storage)};
  getpeername(socket.fd(), Sockaddr(address), &address.size);
  return address;
}

namespace {

// Tells whether a socket is connected to itself. That happens if nobody listens on the port and the
// system chose the same port as the local one; it would keep the real listener from binding to it.
bool IsOwnPeer(const Socket& socket) {
  const SocketAddress own = LocalAddress(socket), peer = PeerAddress(socket);
  return own.size == peer.size && std::memcmp(&own.data, &peer.data, own.size) == 0;
}

}  // namespace

Socket Listen(const SocketAddress& address) noexcept {
  Socket made(
      socket(address.data.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!made) return made;
  SetOption(made, SOL_SOCKET, SO_REUSEADDR);
  if (bind(made.fd(), Sockaddr(address), address.size) == 0 && listen(made.fd(), kBacklog) == 0) {
    return made;
  }
  const int error = errno;
  made = Socket();
  errno = error;
  return {};
}

Socket Connect(const SocketAddress& address, Deadline deadline) noexcept {
  Socket made(
      socket(address.data.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!made) return made;
  int error = 0;
  if (connect(made.fd(), Sockaddr(address), address.size) != 0) error = errno;
  if (error == EINPROGRESS) error = FinishConnect(made, deadline);
  if (error == 0 && IsOwnPeer(made)) error = ECONNREFUSED;
  if (error != 0) {
    made = Socket();
    errno = error;
    return {};
  }
  SetOption(made, IPPROTO_TCP, TCP_NODELAY);
  return made;
}

Socket Accept(const Socket& listener) noexcept {
  Socket made(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (made) SetOption(made, IPPROTO_TCP, TCP_NODELAY);
  return made;
}

bool AwaitReadable(const Socket& socket, Deadline deadline) noexcept {
  return Await(socket, POLLIN, deadline);
}

bool SendAll(const Socket& socket, std::span<const std::byte> data, Deadline deadline) noexcept {
  while (!data.empty()) {
    const ssize_t sent = send(socket.fd(), data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      data = data.subspan(static_cast<size_t>(sent));
    } else if (errno != EINTR && (errno != EAGAIN || !Await(socket, POLLOUT, deadline))) {
      return false;
    }
  }
  return true;
}

bool ReceiveAll(const Socket& socket, std::span<std::byte> data, Deadline deadline) noexcept {
  while (!data.empty()) {
    const ssize_t came = recv(socket.fd(), data.data(), data.size(), MSG_DONTWAIT);
    if (came > 0) {
      data = data.subspan(static_cast<size_t>(came));
    } else if (came == 0 ||
               (errno != EINTR && (errno != EAGAIN || !Await(socket, POLLIN, deadline)))) {
      return false;
    }
  }
  return true;
}

}  // namespace recpack
