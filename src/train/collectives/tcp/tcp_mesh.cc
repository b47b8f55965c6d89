#include "src/train/collectives/tcp/tcp_mesh.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/collective_failure.h"
#include "src/train/collectives/notice.h"
#include "src/train/collectives/tcp/tcp_guests.h"
#include "src/train/collectives/tcp/tcp_host.h"
#include "src/train/collectives/tcp/tcp_listeners.h"

namespace recpack::train {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);  // time for buffered data to be sent

Deadline Soon(Deadline deadline) {
  return std::min(deadline, std::chrono::steady_clock::now() + kPatience);
}

class Rendezvous {
 public:
  Rendezvous(const TcpOptions& where, const CollectiveOptions& options)
      : where_(where),
        timeout_(options.connect_timeout),
        deadline_(DeadlineAfter(options.connect_timeout)),
        guests_(static_cast<size_t>(where.size)),
        listeners_(static_cast<size_t>(where.size)) {
    mesh_.data.resize(static_cast<size_t>(where.size));
    mesh_.control.resize(static_cast<size_t>(where.size));
  }

  TcpMesh Host() {
    listener_ = ListenAsHost(where_);
    try {
      for (int joined = 1; joined < where_.size; ++joined) Admit();
    } catch (const Error& error) {
      for (const Socket& socket : mesh_.control) Answer(socket, error);
      throw;
    }
    for (const Socket& socket : mesh_.control) Answer(socket, std::nullopt);
    AcceptHigherRanks();
    return std::move(mesh_);
  }

  TcpMesh Join() {
    Socket host = ConnectToHost(where_, timeout_, deadline_);
    SocketAddress own = LocalAddress(host);
    own.set_port(0);
    listener_ = Listen(ReachableAddress(where_, own));
    if (!listener_) throw ConnectError(format("{}: listen: {}", own.Host(), std::strerror(errno)));
    Greet(host, kControl);
    HearAnswer(host);
    mesh_.control[0] = std::move(host);
    for (int other = 0; other < where_.rank; ++other) ConnectTo(other);
    AcceptHigherRanks();
    return std::move(mesh_);
  }

 private:
  // Rank 0: accepts one rank.
  void Admit() {
    auto [socket, hello] = NextHello();
    if (hello.channel != kControl || hello.size != where_.size) {
      throw Contradiction(socket, hello, format("rank 0 has {} ranks", where_.size));
    }
    if (hello.rank <= 0 || hello.rank >= where_.size) {
      throw Contradiction(socket, hello, "there is no such rank");
    }
    Socket& place = mesh_.control[static_cast<size_t>(hello.rank)];
    if (place) throw Contradiction(socket, hello, "that rank has already connected");
    listeners_.Set(hello.rank, PeerAddress(socket), hello.port);
    place = std::move(socket);
  }

  Error Contradiction(const Socket& socket, const TcpHello& hello,
                      const std::string& reason) const {
    Error error(ErrorKind::kInvalidArgument,
                format("rank {} of {} came from {}, but {}", hello.rank, hello.size,
                       PeerAddress(socket).Host(), reason),
                {},
                "check that all processes belong to one run, and that no other run uses its port");
    Answer(socket, error);
    return error;
  }

  void Answer(const Socket& socket, const std::optional<Error>& failure) const {
    if (!socket) return;
    const Deadline soon = std::chrono::steady_clock::now() + kPatience;
    // If a rank does not receive it, the next call that waits for that rank finds out.
    if (SendAll(socket, MessageBytes(ToNotice(failure)), soon) && !failure) {
      SendAll(socket, listeners_.bytes(), soon);
    }
  }

  // Other ranks.

  void Greet(const Socket& socket, TcpChannel channel) const {
    const TcpHello hello{.rank = where_.rank,
                         .size = where_.size,
                         .channel = channel,
                         .port = static_cast<uint32_t>(LocalAddress(listener_).port())};
    // If this fails, the answer will not come.
    SendAll(socket, MessageBytes(hello), Soon(deadline_));
  }

  void HearAnswer(const Socket& host) {
    Notice notice;
    if (!ReceiveAll(host, MessageBytes(notice), deadline_)) throw LostWhileConnecting(0);
    if (const auto failure = ToFailure(notice)) throw Error(*failure);
    if (!ReceiveAll(host, listeners_.writable_bytes(), deadline_)) throw LostWhileConnecting(0);
    const SocketAddress address = PeerAddress(host);
    listeners_.Set(0, address, static_cast<uint32_t>(address.port()));
  }

  void ConnectTo(int other) {
    for (const TcpChannel channel : {kControl, kData}) {
      Socket& place = Place(other, channel);
      if (place) continue;
      place = Connect(listeners_.Address(other), deadline_);
      if (!place) throw LostWhileConnecting(other);
      Greet(place, channel);
    }
  }

  // All ranks.

  Socket& Place(int other, uint32_t channel) {
    return (channel == kData ? mesh_.data : mesh_.control)[static_cast<size_t>(other)];
  }

  std::vector<int> HigherRanksNotHere() {
    std::vector<int> missing;
    for (int other = where_.rank + 1; other < where_.size; ++other) {
      if (!Place(other, kControl) || !Place(other, kData)) missing.push_back(other);
    }
    return missing;
  }

  void AcceptHigherRanks() {
    while (!HigherRanksNotHere().empty()) {
      auto [socket, hello] = NextHello();
      const bool valid = hello.rank > where_.rank && hello.rank < where_.size &&
                         hello.size == where_.size && hello.channel < kChannels;
      if (!valid || Place(hello.rank, hello.channel)) {
        throw Contradiction(socket, hello, "it was not expected");
      }
      Place(hello.rank, hello.channel) = std::move(socket);
    }
    listener_ = Socket();
  }

  // Waits for the next connection of a rank.
  TcpGuests::Rank NextHello() {
    while (true) {
      if (auto rank = guests_.NextRank()) return std::move(*rank);
      if (AwaitGuest()) guests_.TakeIn(listener_, where_.rank);
    }
  }

  // Waits for data or a connection, then returns true. Throws if a connected rank is lost
  // meanwhile.
  bool AwaitGuest() {
    std::vector<pollfd> waits = {{listener_.fd(), POLLIN, 0}};
    for (const Socket& socket : mesh_.control) waits.push_back({socket.fd(), POLLIN, 0});
    guests_.AddTo(waits);
    while (poll(waits.data(), waits.size(), PollTime(deadline_)) <= 0) {
      if (std::chrono::steady_clock::now() < deadline_) continue;
      throw ConnectError(
          format("{} did not connect to rank {} at {}:{} within {} ms",
                 RanksText(HigherRanksNotHere()), where_.rank, LocalAddress(listener_).Host(),
                 LocalAddress(listener_).port(), timeout_.count()),
          "check that all ranks were started and can reach that address");
    }
    for (int other = 0; other < where_.size; ++other) {
      if (waits[static_cast<size_t>(other) + 1].revents == 0) continue;
      Notice notice;
      const bool came = ReceiveAll(Place(other, kControl), MessageBytes(notice), Soon(deadline_));
      const auto failure = came ? ToFailure(notice) : std::nullopt;
      throw failure ? *failure : LostWhileConnecting(other);
    }
    return waits[0].revents != 0;
  }

  static Error LostWhileConnecting(int rank) {
    return ConnectError(format("rank {} was lost while the ranks connected", rank));
  }

  const TcpOptions& where_;
  const std::chrono::milliseconds timeout_;
  const Deadline deadline_;
  Socket listener_;
  TcpGuests guests_;
  TcpListeners listeners_;
  TcpMesh mesh_;
};

}  // namespace

TcpMesh ConnectMesh(const TcpOptions& where, const CollectiveOptions& options) {
  if (where.size == 1) {
    TcpMesh alone;
    alone.data.resize(1);
    alone.control.resize(1);
    return alone;
  }
  Rendezvous rendezvous(where, options);
  return where.rank == 0 ? rendezvous.Host() : rendezvous.Join();
}

}  // namespace recpack::train
