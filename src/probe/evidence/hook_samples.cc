#include "src/probe/evidence/hook_samples.h"

#include <algorithm>
#include <string_view>

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {
namespace {

constexpr double kMillionths = 1e-6;
constexpr std::string_view kWaiting = "waiting";

}  // namespace

void InputSamples::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    const Event& event = timed.event;
    if (!IsInputSample(timed) || event.end <= event.begin) continue;
    auto& [work, until] = sums_[timed.process];
    const double seconds = static_cast<double>(event.end - event.begin) * 1e-9;
    work.process = timed.process;
    if (event.begin >= until) {
      work.seconds += seconds;
      until = event.end;
    }
    const double threads = seconds * kMillionths * static_cast<double>(event.value);
    const std::string_view kind = std::string_view(timed.name).substr(kInputSample.size());
    if (kind == kWaiting) {
      work.waiting += threads;
    } else {
      work.threads[ParseBottleneck(kind)] += threads;
    }
  }
}

std::vector<InputWork> InputSamples::Works() const {
  std::vector<InputWork> works;
  works.reserve(sums_.size());
  for (const auto& [process, sums] : sums_) {
    InputWork& work = works.emplace_back(sums.work);
    work.waiting /= work.seconds;
    for (auto& [place, threads] : work.threads) threads /= work.seconds;
  }
  return works;
}

void LockProbes::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (!IsLockProbe(timed) || timed.event.end <= timed.event.begin) continue;
    LockUse& use = uses_[timed.process];
    const double seconds = static_cast<double>(timed.event.end - timed.event.begin) * 1e-9;
    const double held = kMillionths * static_cast<double>(timed.event.value);
    use.process = timed.process;
    use.seconds += seconds;
    use.held += seconds * std::min(held, 1.0);
  }
}

std::vector<LockUse> LockProbes::Uses() const {
  std::vector<LockUse> uses;
  uses.reserve(uses_.size());
  for (const auto& [process, sums] : uses_) {
    uses.push_back(sums);
    uses.back().held /= sums.seconds;
  }
  return uses;
}

void ReportedRanks::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (!IsRank(timed)) continue;
    const uint64_t value = timed.event.value;
    ranks_[timed.process] = {.process = timed.process,
                             .rank = static_cast<uint32_t>(value),
                             .size = static_cast<uint32_t>(value >> kRankSizeBits)};
  }
}

std::vector<ProcessRank> ReportedRanks::All() const {
  std::vector<ProcessRank> all;
  all.reserve(ranks_.size());
  for (const auto& [process, rank] : ranks_) all.push_back(rank);
  return all;
}

}  // namespace recpack::probe
