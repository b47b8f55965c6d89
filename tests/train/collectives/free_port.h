// Ports for test servers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace recpack::train {

// A free port of this machine, outside of the kernel's ephemeral range (tests/cli/launching.py has
// its own range), and different for each process and call.
inline int FreePort() {
  static std::atomic<int> calls = 0;
  while (true) {
    const int port = 10'000 + (static_cast<int>(getpid()) * 331 + calls++) % 10'000;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const bool is_free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (is_free) return port;
  }
}

}  // namespace recpack::train
