// Connections that were accepted, until they tell which rank they come from.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recpack/base/socket.h"

namespace recpack::train {

// "RECPACK1" on a machine of the same byte order.
inline constexpr uint64_t kTcpMagic = 0x314B'4341'5043'4552;

enum TcpChannel : uint32_t { kControl, kData, kChannels };

// The first message on every connection, sent by the rank that connected.
struct TcpHello {
  uint64_t magic = kTcpMagic;
  int32_t rank = 0;
  int32_t size = 0;
  uint32_t channel = kControl;
  uint32_t port = 0;  // where it listens
};

// Strangers' connections are closed; silent ones do not block the others, and only a limited number
// of them is kept.
class TcpGuests {
 public:
  using Rank = std::pair<Socket, TcpHello>;

  explicit TcpGuests(size_t ranks) : ranks_(ranks) {}

  // Accepts a connection for rank `host`. Throws Error (kIo) if no more files may be open.
  void TakeIn(const Socket& listener, int host);

  // Adds the guests' sockets, to wait for their data.
  void AddTo(std::vector<pollfd>& waits) const;

  // Reads what has come. Returns a connection of a rank, if one has said so.
  std::optional<Rank> NextRank();

 private:
  // A connection that has not identified itself: a stranger, or a rank that is slow or stopped.
  struct Guest {
    Socket socket;
    TcpHello hello = {};
    size_t heard = 0;  // bytes received of it

    bool IsRank() const { return heard == sizeof hello && hello.magic == kTcpMagic; }
    // Reads available bytes. Returns false if this is not a rank, or has disconnected.
    bool Hear();
  };

  size_t ranks_;
  std::vector<Guest> guests_;  // oldest first
};

}  // namespace recpack::train
