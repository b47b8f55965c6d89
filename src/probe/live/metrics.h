// Metrics of a watched training in Prometheus' format. docs/reference/prometheus.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/steps/steps.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Labels of all metrics; empty if unknown.
struct MetricLabels {
  std::string job;
  std::string rank = "0";
  std::string user;
  std::string host;
};

// Metrics of one watch. Not thread-safe.
class Metrics {
 public:
  explicit Metrics(MetricLabels labels) : labels_(std::move(labels)) {}

  // Returns the metrics at `now` (CLOCK_MONOTONIC, ns) in format 0.0.4. Unknown values are left
  // out. Counters grow by the steps since the previous call, so `evidence` may hold the latest
  // steps only.
  std::string Text(const Evidence& evidence, const Verdict& verdict,
                   const std::vector<GpuSample>& gpus, int64_t now);

  // Tells whether `evidence`, which holds the latest `most_steps` of each trainer, may miss steps
  // that have ended since the last Text().
  bool Misses(const Evidence& evidence, size_t most_steps) const;

 private:
  // End of the last counted step of one trainer.
  struct Counted {
    int process = 0;
    uint32_t lane = 0;
    uint16_t device = 0;
    int64_t end = INT64_MIN;
  };
  // Sums over all trainers since the beginning.
  struct Sums {
    uint64_t steps = 0;
    double step_seconds = 0;
    double wait_seconds = 0;
    double lost_seconds = 0, lost_low = 0, lost_high = 0;
  };

  void Count(const Evidence& evidence, const Verdict& verdict, int64_t now);
  size_t FindIndex(const TrainerSteps& trainer) const;  // in counted_; its size if not found

  const MetricLabels labels_;
  std::vector<Counted> counted_;
  Sums sums_;
};

}  // namespace recpack::probe
