#include "src/probe/procfs/system_rates.h"

#include <algorithm>
#include <set>
#include <utility>

namespace recpack::probe {
namespace {

constexpr double kNs = 1e9;

// Computes rates from two values of a counter.
class Interval {
 public:
  explicit Interval(double seconds) : seconds_(seconds) {}

  Figure PerSecond(const Counter& first, const Counter& second) const noexcept {
    if (!first || !second || *second < *first || seconds_ <= 0) return std::nullopt;
    return static_cast<double>(*second - *first) / seconds_;
  }
  // For counters in nanoseconds.
  Figure Share(const Counter& first, const Counter& second) const noexcept {
    const Figure ns = PerSecond(first, second);
    return ns ? Figure(*ns / kNs) : ns;
  }

 private:
  double seconds_;
};

PressureShares SharesBetween(const PressureStall& first, const PressureStall& second,
                             const Interval& interval) {
  const auto between = [&](const Pressure& a, const Pressure& b) -> PressureShare {
    return {interval.Share(a.some_ns, b.some_ns), interval.Share(a.full_ns, b.full_ns)};
  };
  return {.cpu = between(first.cpu, second.cpu),
          .io = between(first.io, second.io),
          .memory = between(first.memory, second.memory)};
}

// Finds the matching element in the other sample, or returns nullptr. Linear: lists are short, or
// the element is mostly at index `guess`.
template <typename T, typename Same>
const T* Find(const std::vector<T>& list, size_t guess, const Same& same) {
  for (; guess < list.size(); ++guess) {
    if (same(list[guess])) return &list[guess];
  }
  const auto it = std::find_if(list.begin(), list.end(), same);
  return it == list.end() ? nullptr : &*it;
}

// Shares are of the time that the kernel has accounted for, as it may account idle time late.
void AddCores(const SystemSample& first, const SystemSample& second, SystemRates& rates) {
  for (size_t i = 0; i < second.cores.size(); ++i) {
    const CoreTimes& now = second.cores[i];
    const CoreTimes* before =
        Find(first.cores, i, [&](const CoreTimes& core) { return core.core == now.core; });
    if (before == nullptr || now.busy_ns < before->busy_ns) continue;
    const auto growth = [](const Counter& a, const Counter& b) -> Counter {
      if (!a || !b) return std::nullopt;
      return *b - std::min(*a, *b);  // iowait may step back
    };
    const Counter iowait = growth(before->iowait_ns, now.iowait_ns);
    const Counter steal = growth(before->steal_ns, now.steal_ns);
    const uint64_t busy = now.busy_ns - before->busy_ns;
    const uint64_t idle = *growth(before->idle_ns, now.idle_ns);
    const auto all = static_cast<double>(busy + idle + iowait.value_or(0) + steal.value_or(0));
    if (all <= 0) continue;
    const auto share = [&](const Counter& part) {
      return part ? Figure(static_cast<double>(*part) / all) : std::nullopt;
    };
    rates.cores.push_back({.core = now.core,
                           .busy_share = *share(busy),
                           .iowait_share = share(iowait),
                           .steal_share = share(steal)});
  }
}

void AddProcesses(const SystemSample& first, const SystemSample& second, const Interval& interval,
                  SystemRates& rates) {
  static const ProcessSample unborn = {.io = {0, 0, 0, 0, 0, 0, 0}};
  for (size_t i = 0; i < second.processes.size(); ++i) {
    const ProcessSample& now = second.processes[i];
    const ProcessSample* found = Find(first.processes, i, [&](const ProcessSample& process) {
      return process.process == now.process && process.start_ticks == now.start_ticks;
    });
    const ProcessSample& before = found != nullptr ? *found : unborn;
    rates.processes.push_back(
        {.process = now.process,
         .name = now.name,
         .cpu_cores = interval.Share(before.user_ns + before.system_ns, now.user_ns + now.system_ns)
                          .value_or(0),
         .major_faults_per_second =
             interval.PerSecond(before.major_faults, now.major_faults).value_or(0),
         .read_bytes_per_second = interval.PerSecond(before.io.read_bytes, now.io.read_bytes),
         .read_chars_per_second = interval.PerSecond(before.io.read_chars, now.io.read_chars),
         .written_bytes_per_second =
             interval.PerSecond(before.io.written_bytes, now.io.written_bytes)});
  }
}

bool IsBefore(const ThreadSample& a, const ThreadSample& b) noexcept {
  return std::pair(a.process, a.thread) < std::pair(b.process, b.thread);
}

void AddThreads(const SystemSample& first, const SystemSample& second, const Interval& interval,
                SystemRates& rates) {
  static const ThreadSample unborn = {.run_ns = 0, .run_queue_wait_ns = 0, .block_io_wait_ns = 0};
  for (const ThreadSample& now : second.threads) {
    const auto found = std::lower_bound(first.threads.begin(), first.threads.end(), now, IsBefore);
    const bool is_new = found == first.threads.end() || IsBefore(now, *found);
    const ThreadSample& before = is_new ? unborn : *found;
    const Figure exact = interval.Share(before.run_ns, now.run_ns);
    const Figure ticks =
        interval.Share(before.user_ns + before.system_ns, now.user_ns + now.system_ns);
    rates.threads.push_back(
        {.thread = now.thread,
         .process = now.process,
         .name = now.name,
         .state = now.state,
         .processor = now.processor,
         .cpu_share = exact ? *exact : ticks.value_or(0),
         .run_queue_wait_share = interval.Share(before.run_queue_wait_ns, now.run_queue_wait_ns),
         .block_io_wait_share = interval.Share(before.block_io_wait_ns, now.block_io_wait_ns)});
  }
}

void AddDevices(const SystemSample& first, const SystemSample& second, const Interval& interval,
                SystemRates& rates) {
  for (size_t i = 0; i < second.devices.size(); ++i) {
    const BlockDevice& now = second.devices[i];
    const BlockDevice* before =
        Find(first.devices, i, [&](const BlockDevice& device) { return device.name == now.name; });
    if (before == nullptr || now.reads < before->reads || now.busy_ns < before->busy_ns) continue;
    DeviceRates device = {.name = now.name};
    device.reads_per_second = interval.PerSecond(before->reads, now.reads).value_or(0);
    device.read_bytes_per_second =
        interval.PerSecond(before->read_bytes, now.read_bytes).value_or(0);
    device.written_bytes_per_second =
        interval.PerSecond(before->written_bytes, now.written_bytes).value_or(0);
    device.busy_share = interval.Share(before->busy_ns, now.busy_ns).value_or(0);
    device.queue = interval.Share(before->weighted_ns, now.weighted_ns).value_or(0);
    if (now.reads > before->reads && now.read_ns >= before->read_ns) {
      device.ns_per_read = static_cast<double>(now.read_ns - before->read_ns) /
                           static_cast<double>(now.reads - before->reads);
    }
    rates.devices.push_back(std::move(device));
  }
}

void AddNetwork(const SystemSample& first, const SystemSample& second, const Interval& interval,
                SystemRates& rates) {
  for (size_t i = 0; i < second.network.size(); ++i) {
    const NetworkInterface& now = second.network[i];
    const NetworkInterface* before =
        Find(first.network, i, [&](const NetworkInterface& it) { return it.name == now.name; });
    if (before == nullptr) continue;
    const Figure received = interval.PerSecond(before->received_bytes, now.received_bytes);
    const Figure sent = interval.PerSecond(before->sent_bytes, now.sent_bytes);
    if (received && sent) rates.network.push_back({now.name, *received, *sent});
  }
}

void AddOthers(const SystemSample& second, SystemRates& rates) {
  const std::set<int> allowed(second.allowed_cores.begin(), second.allowed_cores.end());
  rates.allowed_cores = static_cast<int>(allowed.size());
  double busy = 0;
  size_t seen = 0;
  for (const CoreRates& core : rates.cores) {
    if (!allowed.contains(core.core)) continue;
    busy += core.busy_share + core.steal_share.value_or(0);
    ++seen;
  }
  if (seen == 0) return;
  rates.others_cores = std::max(0.0, busy - rates.tree_cores - rates.own_cores);
}

void AddCgroup(const CgroupSample& first, const CgroupSample& second, const Interval& interval,
               SystemRates& rates) {
  rates.throttled_cores = interval.Share(first.throttled_ns, second.throttled_ns);
  const Figure periods = interval.PerSecond(first.periods, second.periods);
  const Figure throttled = interval.PerSecond(first.throttled_periods, second.throttled_periods);
  if (periods && throttled && *periods > 0) rates.throttled_periods_share = *throttled / *periods;
}

}  // namespace

SystemRates RatesBetween(const SystemSample& first, const SystemSample& second) {
  SystemRates rates;
  rates.seconds = static_cast<double>(second.time_ns - first.time_ns) / kNs;
  const Interval interval(rates.seconds);
  AddCores(first, second, rates);
  AddProcesses(first, second, interval, rates);
  AddThreads(first, second, interval, rates);
  AddDevices(first, second, interval, rates);
  AddNetwork(first, second, interval, rates);
  rates.pressure = SharesBetween(first.pressure, second.pressure, interval);
  rates.cgroup_pressure = SharesBetween(first.cgroup.pressure, second.cgroup.pressure, interval);
  rates.tree_cores = interval.Share(first.tree_cpu_ns, second.tree_cpu_ns).value_or(0);
  rates.own_cores = interval.Share(first.own_cpu_ns, second.own_cpu_ns).value_or(0);
  AddOthers(second, rates);
  rates.tree_major_faults_per_second =
      interval.PerSecond(first.tree_major_faults, second.tree_major_faults).value_or(0);
  rates.refaults_per_second =
      interval.PerSecond(first.page_cache.refaults, second.page_cache.refaults);
  rates.page_cache_read_bytes_per_second =
      interval.PerSecond(first.page_cache.read_bytes, second.page_cache.read_bytes);
  AddCgroup(first.cgroup, second.cgroup, interval, rates);
  return rates;
}

IoPressure FindIoPressure(const SystemRates& system) {
  if (const auto& own = system.cgroup_pressure.io.some) return {*own, "of its control group"};
  return {system.pressure.io.some.value_or(0), "of the machine"};
}

}  // namespace recpack::probe
