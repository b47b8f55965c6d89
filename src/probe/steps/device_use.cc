#include "src/probe/steps/device_use.h"

#include <algorithm>
#include <utility>

namespace recpack::probe {
namespace {

size_t FindGapClass(int64_t length) {
  size_t gap_class = 0;
  while (const auto limit = DeviceUse::GapLimit(gap_class)) {
    if (length < *limit) break;
    ++gap_class;
  }
  return gap_class;
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

void DeviceSweep::Add(Work work, const Interval& activity) {
  if (activity.length() == 0) return;
  if (!any_) at_ = use_.begin = activity.begin;
  any_ = true;
  AdvanceTo(activity.begin);
  ++running_[work];
  ends_.emplace(activity.end, work);
  if (work != kCopy) use_.kernel_times += activity.length();
}

void DeviceSweep::AdvanceTo(int64_t time) {
  while (!ends_.empty() && ends_.top().first <= time) {
    const auto [end, work] = ends_.top();
    ends_.pop();
    Account(end);
    --running_[work];
  }
  Account(time);
}

// Adds the time from `at_` on, in which nothing began or ended.
void DeviceSweep::Account(int64_t time) {
  const int64_t length = time - at_;
  if (length <= 0) return;
  const bool compute = running_[kCompute] > 0, exchange = running_[kExchange] > 0;
  const bool kernels = compute || exchange, copies = running_[kCopy] > 0;
  if (kernels) use_.kernels += length;
  if (compute) use_.compute += length;
  if (copies) use_.copies += length;
  if (copies && kernels) use_.covered_copies += length;
  if (exchange && !compute) use_.uncovered_exchange += length;
  if (!kernels && !copies) AddGap({at_, time});
  const size_t at_once = std::min(running_[kCompute] + running_[kExchange], DeviceUse::kMostAtOnce);
  if (use_.at_once.size() <= at_once) use_.at_once.resize(at_once + 1);
  use_.at_once[at_once] += length;
  at_ = time;
}

void DeviceSweep::AddGap(const DeviceGap& gap) {
  const int64_t length = gap.end - gap.begin;
  DeviceUse::GapClass& gap_class = use_.gaps[FindGapClass(length)];
  ++gap_class.gaps;
  gap_class.time += length;
  use_.idle += length;
  use_.longest.push_back(gap);
  if (use_.longest.size() >= 2 * longest_gaps_ + 1000) KeepLongestGaps();
}

void DeviceSweep::KeepLongestGaps() {
  std::ranges::stable_sort(use_.longest, std::greater<>(),
                           [](const DeviceGap& gap) { return gap.end - gap.begin; });
  if (use_.longest.size() > longest_gaps_) use_.longest.resize(longest_gaps_);
}

DeviceUse DeviceSweep::Finish() {
  while (!ends_.empty()) AdvanceTo(ends_.top().first);
  use_.end = at_;
  KeepLongestGaps();
  return std::move(use_);
}

}  // namespace recpack::probe
