#include "src/probe/gpu/gpu_collector.h"

#include <algorithm>
#include <utility>

#include "src/base/format.h"
#include "src/probe/gpu/gpm.h"
#include "src/probe/gpu/gpu_watch.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kBusy = 0.5;  // least utilisation at which clocks and limits are meaningful
constexpr double kAllTheTime = 0.95;
constexpr double kHardly = 0.05;
constexpr size_t kMostUtilisations = 4096;
constexpr size_t kFewestUtilisations = 20;

bool IsOn(const std::vector<GpuProcess>& on, const std::vector<ProcessSample>& tree) {
  return std::any_of(on.begin(), on.end(), [&](const GpuProcess& process) {
    return std::any_of(tree.begin(), tree.end(),
                       [&](const ProcessSample& member) { return member.process == process.pid; });
  });
}

}  // namespace

void GpuCollector::Mean::Add(const Reading<double>& value) {
  if (!value) return;
  sum += *value;
  ++count;
}

GpuUse::Figure GpuCollector::Mean::value() const {
  return count > 0 ? GpuUse::Figure(sum / static_cast<double>(count)) : std::nullopt;
}

std::vector<GpuSample> GpuCollector::Sample(const std::vector<ProcessSample>& processes) {
  std::vector<GpuSample> samples = sampler_.Sample();
  for (const GpuSample& sample : samples) {
    Device& device = devices_[sample.device];
    device.Add(sample);
    if (!sample.values || !sample.values->processes) continue;
    device.processes_seen = true;
    device.used |= IsOn(*sample.values->processes, processes);
  }
  return samples;
}

void GpuCollector::Device::Add(const GpuSample& sample) {
  if (sample.name) name = *sample.name;
  if (!sample.values) return AddFault(sample);
  if (sample.time <= newest) return;  // nothing new
  newest = sample.time;
  if (samples++ == 0) {
    first = sample.time;
    if (!faults.empty() && faults.back().reason == kNotAnsweredYet) faults.pop_back();
  }
  last = sample.time;
  if (!faults.empty() && faults.back().until == 0) faults.back().until = sample.time;
  const GpuValues& values = *sample.values;
  utilisation.Add(values.utilisation);
  memory_utilisation.Add(values.memory_utilisation);
  power.Add(values.power);
  power_limit.Add(values.power_limit);
  if (values.sm_clock_max) highest_clock = std::max<double>(highest_clock, *values.sm_clock_max);
  AddMissing(values);
  AddBusy(values);
}

void GpuCollector::Device::AddFault(const GpuSample& sample) {
  newest = sample.time;
  spins_since = 0;
  const std::string reason = sample.values.reason();
  if (!faults.empty() && faults.back().until == 0) {
    faults.back().reason = reason;  // it contains a growing time
  } else {
    faults.push_back({.reason = reason, .since = sample.time});
  }
}

void GpuCollector::Device::AddBusy(const GpuValues& values) {
  if (!values.utilisation) return;
  utilisations.emplace_back(newest, static_cast<float>(*values.utilisation));
  used_until.Add({newest, utilisation.sum, utilisation.count});
  if (utilisations.size() > kMostUtilisations) utilisations.pop_front();
  const bool spins = *values.utilisation >= kAllTheTime && values.memory_utilisation &&
                     *values.memory_utilisation <= kHardly;
  spins_since = !spins ? 0 : spins_since != 0 ? spins_since : newest;
  if (*values.utilisation < kBusy) return;
  if (values.sm_clock) busy_clock.Add(static_cast<double>(*values.sm_clock));
  if (!values.clock_reasons) return;
  ++busy;
  const auto& reasons = *values.clock_reasons;
  throttled += std::any_of(reasons.begin(), reasons.end(),
                           [](const GpuClockReason& reason) { return reason.throttled; });
  for (const GpuClockReason& reason : reasons) {
    if (reason.throttled) ++throttled_by[reason.name];
  }
}

void GpuCollector::Device::AddMissing(const GpuValues& values) {
  const auto add = [&](const char* what, const auto& reading) {
    if (reading || reading.reason() == kFirstReading) return;
    missing.try_emplace(what, reading.reason());
  };
  add("utilisation", values.utilisation);
  add("power", values.power);
  add("clock", values.sm_clock);
  add("what holds its clock back", values.clock_reasons);
  add("which processes are on it", values.processes);
  add("memory in use", values.memory_used);
  add("traffic over PCIe", values.pcie_rx);
  add("temperature", values.temperature);
  add("how busy its SMs, tensor cores and memory are (GPM)", values.counters.sm_active);
}

GpuUse GpuCollector::Device::Use(int number) const {
  GpuUse use{.device = number,
             .name = name,
             .used = used,
             .seconds = Seconds(last - first),
             .samples = samples,
             .utilisation = utilisation.value(),
             .memory_utilisation = memory_utilisation.value(),
             .power = power.value(),
             .power_limit = power_limit.value(),
             .busy_clock = busy_clock.value()};
  if (highest_clock > 0) use.highest_clock = highest_clock;
  if (busy > 0) use.throttled_share = static_cast<double>(throttled) / static_cast<double>(busy);
  const auto most =
      std::max_element(throttled_by.begin(), throttled_by.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != throttled_by.end()) use.throttled_by = most->first;
  if (spins_since != 0) use.spins_since = spins_since;
  return use;
}

// Covers the time from the last kept sample before `begin` to the first one after `end`.
GpuUse::Figure GpuCollector::Device::BusyBetween(int64_t begin, int64_t end) const {
  if (end <= begin) return {};
  UsedUntil earliest, latest;
  for (const UsedUntil& until : used_until.All()) {
    if (earliest.count == 0 || until.time <= begin) earliest = until;
    latest = until;
    if (until.time >= end) break;
  }
  const uint64_t samples_between = latest.count - earliest.count;
  if (samples_between < kFewestUtilisations) return {};
  return (latest.sum - earliest.sum) / static_cast<double>(samples_between);
}

std::vector<GpuUse> GpuCollector::Uses(int64_t begin, int64_t end) const {
  std::vector<GpuUse> uses;
  for (const auto& [number, device] : devices_) {
    if (!device.counts() || device.samples == 0) continue;
    uses.push_back(device.Use(number));
    if (const auto share = device.BusyBetween(begin, end)) {
      uses.back().busy_in_steps = *share * Seconds(end - begin);
      uses.back().idle_in_steps = (1 - *share) * Seconds(end - begin);
    }
  }
  return uses;
}

// The driver's utilisation is a mean over up to a second, which hides shorter periods.
std::vector<Period> GpuCollector::Periods() const {
  constexpr double kFastest = 2;  // seconds
  std::vector<Period> periods;
  for (const auto& [number, device] : devices_) {
    if (!device.counts() || device.utilisations.size() < 2) continue;
    const auto& series = device.utilisations;
    std::vector<float> values;
    values.reserve(series.size());
    for (const auto& [time, value] : series) values.push_back(value);
    const double spacing = Seconds(series.back().first - series.front().first) /
                           static_cast<double>(series.size() - 1);
    auto period = FindPeriod(values, spacing);
    if (!period || period->seconds < kFastest) continue;
    period->of = format("utilisation of GPU {}", number);
    periods.push_back(*std::move(period));
  }
  std::stable_sort(periods.begin(), periods.end(),
                   [](const Period& a, const Period& b) { return a.strength > b.strength; });
  return periods;
}

std::vector<std::string> GpuCollector::Unseen(int64_t begin) const {
  std::vector<std::string> lines;
  for (const auto& [number, device] : devices_) {
    if (!device.counts()) continue;
    for (const Fault& fault : device.faults) {
      const std::string until =
          fault.until == 0 ? "" : format(" to {:.1f} s", Seconds(fault.until - begin));
      lines.push_back(format("GPU {} could not be seen from {:.1f} s on{}: {}", number,
                             Seconds(std::max(fault.since, begin) - begin), until, fault.reason));
    }
    for (const auto& [what, reason] : device.missing) {
      lines.push_back(format("GPU {}: {} could not be seen: {}", number, what, reason));
    }
  }
  return lines;
}

}  // namespace recpack::probe
