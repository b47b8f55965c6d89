// Connects all pairs of processes, starting from one known address.
#pragma once

#include <vector>

#include "recpack/base/socket.h"
#include "src/train/collectives/tcp/tcp_collective.h"

namespace recpack::train {

// Sockets by rank; none for this rank. Notices have separate sockets, so that they arrive in any
// state of an array's transfer.
struct TcpMesh {
  std::vector<Socket> data;
  std::vector<Socket> control;
};

// Rank 0 listens at the address, collects each rank's own address and sends all to everyone; then
// each rank connects to all lower ones. Throws like TcpCollective().
TcpMesh ConnectMesh(const TcpOptions& where, const CollectiveOptions& options);

}  // namespace recpack::train
