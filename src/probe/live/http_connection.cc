#include "src/probe/live/http_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "src/probe/live/http_answer.h"

namespace recpack::probe {
namespace {

// Tells from errno whether a failed recv() or send() would have blocked.
bool WouldWait() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

int16_t HttpConnection::events() const noexcept {
  return state_ == State::kWriting ? POLLOUT : POLLIN;
}

bool HttpConnection::Go(const Metrics& metrics) {
  if (state_ == State::kReading && !Read(metrics)) return false;
  if (state_ == State::kWriting && !Write()) return false;
  return state_ != State::kDraining || Drain();
}

bool HttpConnection::Read(const Metrics& metrics) {
  std::array<char, 2048> buffer;
  while (true) {
    const ssize_t came = recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (came < 0) return WouldWait();
    if (came == 0) return false;
    request_.append(buffer.data(), static_cast<size_t>(came));
    const size_t end = HttpHeadEnd(std::string_view(request_).substr(0, most_));
    if (end == std::string::npos && request_.size() < most_) continue;
    answer_ = end == std::string::npos
                  ? HttpTooLong()
                  : HttpAnswer(std::string_view(request_).substr(0, end), metrics());
    request_ = {};
    state_ = State::kWriting;
    return true;
  }
}

bool HttpConnection::Write() noexcept {
  while (sent_ < answer_.size()) {
    const ssize_t sent = send(socket_.fd(), answer_.data() + sent_, answer_.size() - sent_,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return WouldWait();
    sent_ += static_cast<size_t>(sent);
  }
  shutdown(socket_.fd(), SHUT_WR);
  state_ = State::kDraining;
  return true;
}

// Reads until the peer closes: closing a socket with unread data resets the connection, and the
// peer may lose the response.
bool HttpConnection::Drain() noexcept {
  std::array<char, 2048> buffer;
  for (int times = 0; times < 32; ++times) {
    const ssize_t came = recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (came < 0) return WouldWait();
    if (came == 0) return false;
  }
  return true;
}

}  // namespace recpack::probe
