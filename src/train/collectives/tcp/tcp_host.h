// First connections of a TCP collective: where rank 0 listens, and how the others reach it.
#pragma once

#include <chrono>
#include <string>

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "recpack/base/socket.h"
#include "src/train/collectives/tcp/tcp_collective.h"

namespace recpack::train {

// Error (kIo) of ranks that connect.
Error ConnectError(const std::string& reason, const std::string& advice = "");

// Returns an address to listen at that all ranks can reach: a machine's own name often resolves to
// a loopback address there.
SocketAddress ReachableAddress(const TcpOptions& where, const SocketAddress& own);

// Listens at rank 0's address. Throws ConnectError().
Socket ListenAsHost(const TcpOptions& where);

// Connects to rank 0, trying again until it listens. Throws ConnectError() after the deadline;
// `timeout`: time from the beginning to the deadline, for the message.
Socket ConnectToHost(const TcpOptions& where, std::chrono::milliseconds timeout, Deadline deadline);

}  // namespace recpack::train
