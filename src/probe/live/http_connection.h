// HTTP connection that serves one request.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "recpack/base/socket.h"

namespace recpack::probe {

// Never blocks. Not thread-safe.
class HttpConnection {
 public:
  // Returns the text of /metrics; called per request.
  using Metrics = std::function<std::string()>;

  // The caller closes the connection at the deadline.
  HttpConnection(Socket socket, Deadline deadline, size_t most_request_bytes)
      : socket_(std::move(socket)), deadline_(deadline), most_(most_request_bytes) {}

  int fd() const noexcept { return socket_.fd(); }
  Deadline deadline() const noexcept { return deadline_; }
  // Events for poll().
  int16_t events() const noexcept;

  // Continues as far as possible without blocking. Returns false when the connection is done.
  bool Go(const Metrics& metrics);

 private:
  enum class State { kReading, kWriting, kDraining };

  bool Read(const Metrics& metrics);
  bool Write() noexcept;
  bool Drain() noexcept;

  Socket socket_;
  Deadline deadline_;
  size_t most_;
  State state_ = State::kReading;
  std::string request_;
  std::string answer_;
  size_t sent_ = 0;
};

}  // namespace recpack::probe
