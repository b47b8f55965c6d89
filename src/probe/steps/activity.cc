#include "src/probe/steps/activity.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr size_t kFewestStarts = 64;
constexpr int64_t kValues = 4096;                                               // per signal
constexpr int64_t kSpacings[] = {100'000, 1'000'000, 10'000'000, 100'000'000};  // ns

// Counts the starts in each `spacing` up to `last`.
std::vector<float> Counts(const std::deque<int64_t>& starts, int64_t last, int64_t spacing) {
  const int64_t first =
      std::max(*std::min_element(starts.begin(), starts.end()), last - kValues * spacing + 1);
  std::vector<float> counts(static_cast<size_t>((last - first) / spacing + 1));
  for (const int64_t start : starts) {
    if (start >= first) ++counts[static_cast<size_t>((start - first) / spacing)];
  }
  return counts;
}

std::optional<Period> FindPeriodOfStarts(const std::deque<int64_t>& starts) {
  if (starts.size() < kFewestStarts) return {};
  const int64_t last = *std::max_element(starts.begin(), starts.end());
  std::optional<Period> surest;
  for (const int64_t spacing : kSpacings) {
    const auto period = FindPeriod(Counts(starts, last, spacing), Seconds(spacing));
    if (period && (!surest || period->strength > surest->strength)) surest = period;
  }
  return surest;
}

}  // namespace

void Activity::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (timed.event.kind != EventKind::kDevice || timed.event.open) continue;
    std::deque<int64_t>& starts = starts_[{timed.process, timed.event.device}];
    starts.push_back(timed.event.begin);
    if (starts.size() > kMost) starts.pop_front();
  }
}

std::vector<Period> Activity::Periods() const {
  std::vector<Period> periods;
  for (const auto& [at, starts] : starts_) {
    auto period = FindPeriodOfStarts(starts);
    if (!period) continue;
    period->of = format("kernel starts on device {} of process {}", at.second, at.first);
    periods.push_back(*std::move(period));
  }
  std::stable_sort(periods.begin(), periods.end(),
                   [](const Period& a, const Period& b) { return a.strength > b.strength; });
  return periods;
}

}  // namespace recpack::probe
