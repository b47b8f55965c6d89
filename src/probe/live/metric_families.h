// The families of figures that Prometheus is given; docs/prometheus.md lists them.
#pragma once

#include <optional>
#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/live/exposition.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

void AddVerdict(const Verdict& verdict, Exposition& text);
// `samples`: in order of time, as Evidence has them; the last one of each loader counts.
// Of those that live at `now`.
void AddLoaders(const std::vector<LoaderSample>& samples, int64_t now, Exposition& text);
void AddSystem(const std::optional<SystemRates>& rates, Exposition& text);
void AddGpus(const std::vector<GpuSample>& gpus, Exposition& text);

}  // namespace recpack::probe
