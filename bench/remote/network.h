// The network and the faults that the proxy of bench/remote plays.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace recpack::bench {

struct NetworkOptions {
  std::chrono::duration<double> delay{0};  // of each request, before its first byte
  double bytes_per_second = 0;             // of all connections together; 0: no limit
  double stalled = 0;                      // share of requests that wait for `stall`, too
  std::chrono::duration<double> stall{5};
  double faulty = 0;                // share of requests with a fault
  std::vector<std::string> faults;  // of these kinds
  uint64_t seed = 0;
};

struct NetworkCounts {
  std::map<std::string, uint64_t> methods, faults;  // requests
  uint64_t body_bytes = 0;                          // of answers
};

// Thread-safe.
class Network {
 public:
  explicit Network(NetworkOptions options) : options_(std::move(options)) {}

  const NetworkOptions& options() const noexcept { return options_; }

  // Counts a request; returns its fault, "stalled", or nothing. A function of the seed, the
  // request (`what`), and how often it came before, however connections take turns.
  std::string Draw(const std::string& method, const std::string& what);

  // Counts bytes of a body, and waits until they may be sent.
  void Send(uint64_t bytes);

  NetworkCounts counts() const;

 private:
  const NetworkOptions options_;
  mutable std::mutex mutex_;
  NetworkCounts counts_;                          // guarded by mutex_
  std::map<std::string, uint64_t> times_;         // guarded by mutex_
  std::chrono::steady_clock::time_point free_{};  // when the line is; guarded by mutex_
};

}  // namespace recpack::bench
