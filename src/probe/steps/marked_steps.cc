#include "src/probe/steps/marked_steps.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <tuple>

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {
namespace {

constexpr size_t kFewest = 10;

// Removes numbers, so that "step 12" and "step 13" have the same name.
std::string WithoutNumbers(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (plain.empty() || plain.back() != '#') {
      plain += '#';
    }
  }
  return plain;
}

bool Has(const std::string& name, const char* word) { return name.find(word) != std::string::npos; }

bool SoundsLikeAStep(const std::string& name) {
  return Has(name, "step") || Has(name, "iter") || Has(name, "batch");
}

// Tells whether no range overlaps the next.
bool FollowEachOther(const std::vector<Event>& ranges) {
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[i - 1].end) return false;
  }
  return true;
}

struct Candidate {
  bool sounds = false;
  int64_t time = 0;
  uint32_t lane = 0;
  const std::vector<Event>* ranges = nullptr;

  bool operator<(const Candidate& other) const {
    return std::tie(sounds, time) < std::tie(other.sounds, other.time);
  }
};

std::vector<Event> ToSteps(const std::vector<Event>& ranges) {
  std::vector<Event> steps;
  steps.reserve(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    steps.push_back(ranges[i]);
    steps.back().kind = EventKind::kStep;
    steps.back().value = i;
    if (i + 1 < ranges.size()) steps.back().end = ranges[i + 1].begin;
  }
  return steps;
}

}  // namespace

std::map<std::pair<int, uint32_t>, std::vector<Event>> MarkedSteps(
    const std::vector<TimedEvent>& events) {
  std::map<std::tuple<int, uint32_t, std::string>, std::vector<Event>> named;
  for (const TimedEvent& timed : events) {
    const bool marks = timed.event.kind == EventKind::kRange && !timed.event.open &&
                       timed.event.end > timed.event.begin && !timed.name.empty() &&
                       timed.name != kFetchedAhead && !IsHookRange(timed);
    if (!marks) continue;
    named[{timed.process, timed.event.lane, WithoutNumbers(timed.name)}].push_back(timed.event);
  }
  std::map<int, Candidate> best;  // by process
  for (auto& [at, ranges] : named) {
    const auto& [process, lane, name] = at;
    if (ranges.size() < kFewest || Has(name, "epoch")) continue;
    std::sort(ranges.begin(), ranges.end(),
              [](const Event& a, const Event& b) { return a.begin < b.begin; });
    if (!FollowEachOther(ranges)) continue;
    Candidate candidate{SoundsLikeAStep(name), 0, lane, &ranges};
    for (const Event& range : ranges) candidate.time += range.end - range.begin;
    Candidate& chosen = best[process];
    if (chosen.ranges == nullptr || chosen < candidate) chosen = candidate;
  }
  std::map<std::pair<int, uint32_t>, std::vector<Event>> steps;
  for (const auto& [process, chosen] : best) {
    steps[{process, chosen.lane}] = ToSteps(*chosen.ranges);
  }
  return steps;
}

}  // namespace recpack::probe
