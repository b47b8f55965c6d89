// Metric families that are served to Prometheus; docs/reference/prometheus.md lists them.
#pragma once

#include <optional>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/live/exposition.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

void AddVerdict(const Verdict& verdict, Exposition& text);
// `samples`: in order of time, as in Evidence; only the last one of each loader counts. Leaves out
// loaders that have ended by `now`.
void AddLoaders(const std::vector<LoaderSample>& samples, int64_t now, Exposition& text);
void AddSystem(const std::optional<SystemRates>& rates, Exposition& text);
void AddGpus(const std::vector<GpuSample>& gpus, Exposition& text);

}  // namespace recpack::probe
