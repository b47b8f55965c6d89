// Implements --prometheus: serves metrics of a watch while it runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "src/probe/live/metrics.h"
#include "src/probe/live/metrics_server.h"
#include "src/probe/live/watch.h"
#include "src/probe/report/report.h"
#include "tools/recprobe/command.h"

namespace recpack::tool {

struct PrometheusFlags {
  std::string address;  // empty: no server
  std::string job;      // empty: the program's name
};

void AddPrometheusFlags(CLI::App& command, PrometheusFlags& flags);

// Does nothing without an address. Not thread-safe.
class LiveMetrics {
 public:
  // Starts the server and prints its address to stderr. Throws Error like MetricsServer().
  LiveMetrics(const PrometheusFlags& flags, const probe::Job& job);

  // Call it after each sample. Updates the metrics after 1, 2, 4 and 8 seconds, then every 15; less
  // often if that would use more than 0.2 % of a core.
  void Update(const probe::Watch& watch);

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<probe::MetricsServer> server_;
  std::optional<probe::Metrics> metrics_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

}  // namespace recpack::tool
