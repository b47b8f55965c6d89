#include "src/train/collectives/tcp/tcp_guests.h"

#include <cerrno>
#include <cstring>
#include <span>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

// Limit on connections that have not identified themselves, in addition to the expected ones.
constexpr size_t kMostStrangers = 64;

}  // namespace

bool TcpGuests::Guest::Hear() {
  const std::span rest = MessageBytes(hello).subspan(heard);
  const ssize_t came = recv(socket.fd(), rest.data(), rest.size(), MSG_DONTWAIT);
  if (came < 0) return errno == EAGAIN || errno == EINTR;
  heard += static_cast<size_t>(came);
  return came > 0 && (heard < sizeof hello || IsRank());
}

void TcpGuests::TakeIn(const Socket& listener, int host) {
  Socket socket = Accept(listener);
  // The connection would stay pending and be reported again and again.
  if (!socket && (errno == EMFILE || errno == ENFILE)) {
    throw Error(ErrorKind::kIo,
                format("rank {} cannot accept another connection: {}", host, std::strerror(errno)),
                {}, "raise the limit of open files (ulimit -n)");
  }
  if (!socket) return;
  // Drops the oldest: a rank identifies itself at once, unless it is stopped.
  if (guests_.size() == kMostStrangers + kChannels * ranks_) guests_.erase(guests_.begin());
  guests_.push_back({.socket = std::move(socket)});
}

void TcpGuests::AddTo(std::vector<pollfd>& waits) const {
  for (const Guest& guest : guests_) waits.push_back({guest.socket.fd(), POLLIN, 0});
}

std::optional<TcpGuests::Rank> TcpGuests::NextRank() {
  for (size_t i = 0; i < guests_.size();) {
    if (!guests_[i].Hear()) {
      guests_.erase(guests_.begin() + static_cast<ptrdiff_t>(i));
    } else if (guests_[i].IsRank()) {
      Rank rank(std::move(guests_[i].socket), guests_[i].hello);
      guests_.erase(guests_.begin() + static_cast<ptrdiff_t>(i));
      return rank;
    } else {
      ++i;
    }
  }
  return {};
}

}  // namespace recpack::train
