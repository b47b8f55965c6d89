// Gives figures to those that ask for them over HTTP, as Prometheus does.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace recpack::probe {

struct MetricsServerOptions {
  // Open at once; one more ends the one that has been open longest.
  size_t most_connections = 32;
  // A request's head; longer ones are refused.
  size_t most_request_bytes = 8192;
  // A connection that is not done by then is ended.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
};

// Answers GET /metrics from its construction to the end of the object, on a thread of its own that
// gets no signals. It asks nobody who they are: whoever reaches the address reads the figures.
class MetricsServer {
 public:
  // `address`: HOST:PORT or [IPV6]:PORT; port 0: one that is free. Throws Error: kInvalidArgument
  // where it is no address, kNotFound where nobody knows the host, kIo where nobody may listen
  // there, or somebody else does.
  explicit MetricsServer(const std::string& address, const MetricsServerOptions& options = {});
  ~MetricsServer();

  // Where it listens: HOST:PORT in numbers.
  const std::string& address() const noexcept;

  // What is given from here on: text in Prometheus' format 0.0.4. Any thread.
  void Publish(std::string text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
