// Collectives between processes over TCP; needs only an address from the launcher.
#pragma once

#include <memory>
#include <string>

#include "src/train/collectives/collective.h"

namespace recpack::train {

struct TcpOptions {
  int rank = 0;
  int size = 1;
  // Where rank 0 listens while ranks connect: a host name or IP address that all ranks can reach.
  // Connections are neither encrypted nor authenticated: for trusted networks only.
  std::string address = "127.0.0.1";
  int port = 29500;
};

// This process's member. Returns when all pairs of ranks are connected. Throws Error:
// kInvalidArgument if ranks contradict each other (duplicate rank, different sizes), kIo if a rank
// is lost or does not connect, or if the port is in use.
std::unique_ptr<Collective> TcpCollective(const TcpOptions& where,
                                          const CollectiveOptions& options = {});

}  // namespace recpack::train
