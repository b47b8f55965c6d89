// Collectives between processes over TCP, with nothing but the addresses that a launcher gives.
#pragma once

#include <memory>
#include <string>

#include "src/train/collectives/collective.h"

namespace recpack::train {

struct TcpOptions {
  int rank = 0;
  int size = 1;
  // Where rank 0 listens while the ranks connect: a name or number that all ranks reach.
  // Connections are neither encrypted nor authenticated: only for networks that are trusted.
  std::string address = "127.0.0.1";
  int port = 29500;
};

// This process's part. Returns when all ranks are connected, each to each. Throws Error:
// kInvalidArgument if ranks contradict each other (two of one number, other sizes), kIo if a rank
// was lost or did not come, or if the port is taken.
std::unique_ptr<Collective> TcpCollective(const TcpOptions& where,
                                          const CollectiveOptions& options = {});

}  // namespace recpack::train
