#include "src/probe/live/loader_sampler.h"

#include <algorithm>
#include <iterator>

#include "recpack/base/event_log.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

std::vector<LoaderSample> LoaderSampler::Sample(const std::vector<ProcessSample>& processes) {
  std::vector<LoaderSample> seen;
  std::map<int, Process> running;
  for (const ProcessSample& process : processes) {
    Process& now = running[process.process];
    const auto before = processes_.find(process.process);
    if (before != processes_.end() && before->second.start_ticks == process.start_ticks) {
      now = before->second;
    }
    now.start_ticks = process.start_ticks;
    // Spreads the processes over the samples.
    const uint32_t turn = now.samples++ + static_cast<uint32_t>(process.process);
    if (!now.has_loaders && now.samples > kNew && turn % kPause != 0) continue;
    ++looks_;
    const StatsReading reading = ReadStats(process.process);
    for (const LoaderStats& stats : reading.loaders) {
      now.has_loaders = true;
      seen.push_back({.time = EventLog::Now(), .process = process.process, .stats = stats});
      Loader& loader = loaders_[{process.process, stats.number}];
      loader.samples.Add(seen.back());
      loader.last = seen.back().time;
    }
  }
  processes_ = std::move(running);
  ShrinkEnded(EventLog::Now());
  return seen;
}

void LoaderSampler::ShrinkEnded(int64_t now) {
  for (auto& [at, loader] : loaders_) {
    if (loader.ended || now - loader.last < kEnded) continue;
    loader.samples.ShrinkTo(kKeptOfEnded);
    loader.ended = true;
  }
}

std::vector<LoaderSample> LoaderSampler::All() const {
  std::vector<LoaderSample> all;
  for (const auto& [at, loader] : loaders_) {
    auto some = loader.samples.All();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace recpack::probe
