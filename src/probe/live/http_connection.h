// One request and its answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "recpack/base/socket.h"

namespace recpack::probe {

// Never waits. One thread.
class HttpConnection {
 public:
  // Of /metrics, when it is asked for.
  using Metrics = std::function<std::string()>;

  // `socket` does not wait. It is over at the deadline at the latest.
  HttpConnection(Socket socket, Deadline deadline, size_t most_request_bytes)
      : socket_(std::move(socket)), deadline_(deadline), most_(most_request_bytes) {}

  int fd() const noexcept { return socket_.fd(); }
  Deadline deadline() const noexcept { return deadline_; }
  // What poll() shall wait for.
  int16_t events() const noexcept;

  // As far as it goes without waiting. False: it is over.
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
