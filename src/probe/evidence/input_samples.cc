#include "src/probe/evidence/input_samples.h"

#include <string_view>

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {
namespace {

constexpr std::string_view kWaiting = "waiting";

}  // namespace

void InputSamples::Add(const std::vector<TimedEvent>& events) {
  constexpr double kMillionths = 1e-6;
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
      work.threads[BottleneckOf(kind)] += threads;
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

}  // namespace recpack::probe
