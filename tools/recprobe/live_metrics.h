// --prometheus: the figures of a watch while it goes on.
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
  std::string address;  // empty: nobody is served
  std::string job;      // empty: the program's name
};

void AddPrometheusFlags(CLI::App& command, PrometheusFlags& flags);

// One thread. Where no address was given it does nothing.
class LiveMetrics {
 public:
  // Listens from here on, and says on stderr where. Throws Error as MetricsServer().
  LiveMetrics(const PrometheusFlags& flags, const probe::Job& job);

  // To be called after each sample. Decides anew after 1, 2, 4, 8 seconds, then every 15; less
  // often where that would take more than 0.2 % of a core.
  void Update(const probe::Watch& watch);

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<probe::MetricsServer> server_;
  std::optional<probe::Metrics> metrics_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

}  // namespace recpack::tool
