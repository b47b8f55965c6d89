// How processes that know one address come to be connected, each to each.
#pragma once

#include <vector>

#include "recpack/base/socket.h"
#include "src/train/collectives/tcp_collective.h"

namespace recpack::train {

// Sockets to every rank, by its number; none to this one. Notices have sockets of their own, so
// that they come through whatever an array's transfer has come to.
struct TcpMesh {
  std::vector<Socket> data;
  std::vector<Socket> control;
};

// Rank 0 listens at the address, learns where each rank listens and tells all; then each rank
// connects to all lower ones. Throws as TcpCollective().
TcpMesh ConnectMesh(const TcpOptions& where, const CollectiveOptions& options);

}  // namespace recpack::train
