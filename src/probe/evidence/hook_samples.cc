#include "src/probe/evidence/hook_samples.h"

#include <algorithm>
#include <string_view>

#include "src/probe/events/hook_ranges.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMillionths = 1e-6;
constexpr std::string_view kWaiting = "waiting";
constexpr std::string_view kOwn = "own ";

}  // namespace

void InputSamples::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    const Event& event = timed.event;
    if (!IsInputSample(timed) || event.end <= event.begin) continue;
    auto& [work, until] = sums_[timed.process];
    const double seconds = Seconds(event.end - event.begin);
    work.process = timed.process;
    if (event.begin >= until) {
      work.seconds += seconds;
      until = event.end;
    }
    const double threads = seconds * kMillionths * static_cast<double>(event.value);
    const std::string_view kind = std::string_view(timed.name).substr(kInputSample.size());
    if (kind == kWaiting) {
      work.waiting += threads;
    } else if (kind.starts_with(kOwn)) {
      work.own[ParseBottleneck(kind.substr(kOwn.size()))] += threads;
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
    for (auto& [place, share] : work.own) share /= work.seconds;
  }
  return works;
}

void LockProbes::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (!IsLockProbe(timed) || timed.event.end <= timed.event.begin) continue;
    LockUse& use = uses_[timed.process];
    const double seconds = Seconds(timed.event.end - timed.event.begin);
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

void GradientExchanges::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (!IsGradientExchange(timed) || timed.event.end <= timed.event.begin) continue;
    GradientExchange& sum = sums_[timed.process];
    sum.process = timed.process;
    ++sum.steps;
    sum.wait += static_cast<double>(timed.event.end - timed.event.begin);
    sum.passes += static_cast<double>(timed.event.value);
    if (sum.waits.size() < GradientExchange::kMostWaits) {
      sum.waits.push_back({timed.event.end, timed.event.end - timed.event.begin});
    }
  }
}

std::vector<GradientExchange> GradientExchanges::Means() const {
  std::vector<GradientExchange> means;
  means.reserve(sums_.size());
  for (const auto& [process, sum] : sums_) {
    GradientExchange& mean = means.emplace_back(sum);
    mean.wait /= static_cast<double>(sum.steps);
    mean.passes /= static_cast<double>(sum.steps);
  }
  return means;
}

void ReportedSettings::Add(const std::vector<TimedEvent>& events) {
  constexpr int kPrefetchBits = 16, kPersistentBit = 32, kPinnedBit = 33, kMadeBits = 34;
  constexpr int kLibraryBits = 40;
  constexpr uint64_t kMostMade = (1U << (kLibraryBits - kMadeBits)) - 1;
  constexpr uint64_t kMostLibraries = static_cast<uint64_t>(InputLibrary::kHuggingFace);
  for (const TimedEvent& timed : events) {
    if (!IsInputSettings(timed)) continue;
    const uint64_t value = timed.event.value, library = value >> kLibraryBits;
    if (library > kMostLibraries) continue;
    InputSettings settings{
        .process = timed.process,
        .library = static_cast<InputLibrary>(library),
        .place = timed.name.substr(std::min(timed.name.size(), kInputSettingsAt.size()))};
    if (settings.loads()) {
      settings.workers = static_cast<uint16_t>(value);
      settings.prefetch = static_cast<uint16_t>(value >> kPrefetchBits);
      settings.persistent = (value >> kPersistentBit & 1) != 0;
      settings.pinned = (value >> kPinnedBit & 1) != 0;
      settings.made = static_cast<uint32_t>(std::max<uint64_t>(1, value >> kMadeBits & kMostMade));
    } else {
      settings.maps = static_cast<uint16_t>(value);
    }
    settings_[timed.process] = std::move(settings);
  }
}

std::vector<InputSettings> ReportedSettings::All() const {
  std::vector<InputSettings> all;
  all.reserve(settings_.size());
  for (const auto& [process, settings] : settings_) all.push_back(settings);
  return all;
}

std::vector<ProcessRank> ReportedRanks::All() const {
  std::vector<ProcessRank> all;
  all.reserve(ranks_.size());
  for (const auto& [process, rank] : ranks_) all.push_back(rank);
  return all;
}

}  // namespace recpack::probe
