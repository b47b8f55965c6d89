// The figures of a training that is watched, as Prometheus reads them. docs/prometheus.md lists
// them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Of whom they are. What is not known is empty.
struct MetricLabels {
  std::string job;
  std::string rank = "0";
  std::string user;
  std::string host;
};

// One watch. One thread.
class Metrics {
 public:
  explicit Metrics(MetricLabels labels) : labels_(std::move(labels)) {}

  // The text of what was seen up to `now` (CLOCK_MONOTONIC, ns), in format 0.0.4. What is not known
  // is not in it. Counters grow by the steps that are new since the call before: `evidence` may
  // hold the latest ones only.
  std::string Text(const Evidence& evidence, const Verdict& verdict,
                   const std::vector<GpuSample>& gpus, int64_t now);

  // Whether steps may have ended since the last Text() that `evidence`, which holds the latest
  // `most_steps` of each trainer, has no more.
  bool Misses(const Evidence& evidence, size_t most_steps) const;

 private:
  // Of one trainer, of steps that are counted.
  struct Counted {
    int process = 0;
    uint32_t lane = 0;
    uint16_t device = 0;
    int64_t end = INT64_MIN;
  };
  // Since the beginning, of all trainers.
  struct Sums {
    uint64_t steps = 0;
    double step_seconds = 0;
    double wait_seconds = 0;
    double lost_seconds = 0, lost_low = 0, lost_high = 0;
  };

  void Count(const Evidence& evidence, const Verdict& verdict, int64_t now);
  size_t PlaceOf(const TrainerSteps& trainer) const;  // in counted_; its end: not there

  const MetricLabels labels_;
  std::vector<Counted> counted_;
  Sums sums_;
};

}  // namespace recpack::probe
