// HTTP server for metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace recpack::probe {

struct MetricsServerOptions {
  // Maximum number of open connections; one more closes the oldest.
  size_t most_connections = 32;
  // Maximum size of a request's head; longer ones get status 431.
  size_t most_request_bytes = 8192;
  // Time after which a connection is closed.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
};

// Answers GET /metrics during its lifetime, on its own thread, which blocks all signals. There is
// no authentication: anyone who can reach the address can read the metrics.
class MetricsServer {
 public:
  // `address`: HOST:PORT or [IPV6]:PORT; port 0 takes a free port. Throws Error: kInvalidArgument
  // if the address is invalid, kNotFound if the host is unknown, kIo if it cannot listen there.
  explicit MetricsServer(const std::string& address, const MetricsServerOptions& options = {});
  ~MetricsServer();

  // The numeric address that it listens at: HOST:PORT.
  const std::string& address() const noexcept;

  // Sets the text to serve, in Prometheus' format 0.0.4. Thread-safe.
  void Publish(std::string text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
