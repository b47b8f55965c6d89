#include "src/probe/steps/device_use.h"

#include <algorithm>
#include <utility>

namespace recpack::probe {
namespace {

Intervals Both(const Intervals& a, const Intervals& b) {
  std::vector<Interval> pieces(a);
  pieces.insert(pieces.end(), b.begin(), b.end());
  return Union(std::move(pieces));
}

size_t FindGapClass(int64_t length) {
  size_t gap_class = 0;
  while (const auto limit = DeviceUse::GapLimit(gap_class)) {
    if (length < *limit) break;
    ++gap_class;
  }
  return gap_class;
}

void AddGaps(const Intervals& gaps, size_t longest, DeviceUse& use) {
  for (const Interval& gap : gaps) {
    DeviceUse::GapClass& gap_class = use.gaps[FindGapClass(gap.length())];
    ++gap_class.gaps;
    gap_class.time += gap.length();
    use.longest.push_back({gap.begin, gap.end});
  }
  std::stable_sort(
      use.longest.begin(), use.longest.end(),
      [](const DeviceGap& a, const DeviceGap& b) { return a.end - a.begin > b.end - b.begin; });
  if (use.longest.size() > longest) use.longest.resize(longest);
}

// Adds the times by the number of kernels at once, from the begin of the first to `use.end`.
void AddAtOnce(const DevicePieces& pieces, DeviceUse& use) {
  std::vector<std::pair<int64_t, int>> changes;  // +1 where a kernel begins, -1 where it ends
  for (const auto* kernels : {&pieces.compute, &pieces.exchange}) {
    for (const Interval& kernel : *kernels) {
      if (kernel.length() == 0) continue;
      changes.emplace_back(kernel.begin, 1);
      changes.emplace_back(kernel.end, -1);
      use.kernel_times += kernel.length();
    }
  }
  changes.emplace_back(use.end, 0);
  std::sort(changes.begin(), changes.end());
  int64_t at = use.begin;
  size_t running = 0;
  for (const auto& [time, change] : changes) {
    const size_t index = std::min(running, DeviceUse::kMostAtOnce);
    if (time > at) {
      if (use.at_once.size() <= index) use.at_once.resize(index + 1);
      use.at_once[index] += time - at;
    }
    at = time;
    running = static_cast<size_t>(static_cast<int64_t>(running) + change);
  }
}

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<int64_t> DeviceUse::GapLimit(size_t gap_class) {
  if (gap_class + 1 >= kGapClasses) return {};
  int64_t limit = 10'000;
  for (size_t i = 0; i < gap_class; ++i) limit *= 10;
  return limit;
}

double DeviceUse::utilisation() const { return Share(kernels, duration()); }

double DeviceUse::concurrency() const {
  int64_t several = 0;
  for (size_t i = 2; i < at_once.size(); ++i) several += at_once[i];
  return Share(several, duration());
}

double DeviceUse::mean_at_once() const { return Share(kernel_times, kernels); }

double DeviceUse::overlap() const { return Share(covered_copies, copies); }

DeviceUse SummarizeUse(DevicePieces pieces, size_t longest_gaps) {
  const Intervals compute = Union(pieces.compute);
  const Intervals exchange = Union(pieces.exchange);
  const Intervals copies = Union(std::move(pieces.copies));
  const Intervals kernels = Both(compute, exchange);
  const Intervals busy = Both(kernels, copies);
  DeviceUse use;
  if (busy.empty()) return use;
  use.begin = busy.front().begin;
  use.end = busy.back().end;
  use.kernels = Length(kernels);
  use.compute = Length(compute);
  use.copies = Length(copies);
  use.covered_copies = Length(Intersection(copies, kernels));
  use.uncovered_exchange = Length(Difference(exchange, compute));
  const Intervals gaps = Gaps(busy, {use.begin, use.end});
  use.idle = Length(gaps);
  AddGaps(gaps, longest_gaps, use);
  AddAtOnce(pieces, use);
  use.streams = pieces.streams.size();
  return use;
}

}  // namespace recpack::probe
