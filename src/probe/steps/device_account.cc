#include "src/probe/steps/device_account.h"

#include <algorithm>
#include <utility>

#include "src/probe/steps/within_steps.h"

namespace recpack::probe {
namespace {

// Longest gap that is attributed to launching kernels; in longer ones the host does something else.
constexpr int64_t kLaunchGap = 100'000;  // ns

// Longest gap between the work of one device and that of another that waited for it.
constexpr int64_t kHandOver = 1'000'000;  // ns

// Counts the pieces that begin within each step.
void CountBegins(const std::vector<Interval>& pieces, std::vector<StepRecord>& steps) {
  std::vector<int64_t> begins;
  begins.reserve(pieces.size());
  for (const Interval& piece : pieces) begins.push_back(piece.begin);
  std::sort(begins.begin(), begins.end());
  for (StepRecord& step : steps) {
    const auto first = std::lower_bound(begins.begin(), begins.end(), step.begin);
    step.kernels = static_cast<uint32_t>(std::lower_bound(first, begins.end(), step.end) - first);
  }
}

std::vector<const DeviceEvents*> FindDevices(const TrainerSteps& trainer,
                                             const SortedEvents& sorted) {
  std::vector<const DeviceEvents*> devices;
  for (const auto& [at, device] : sorted.devices) {
    if (at.first != trainer.process) continue;
    if (trainer.device != Event::kNoDevice && at.second != trainer.device) continue;
    devices.push_back(&device);
  }
  return devices;
}

DeviceEvents Joined(const std::vector<const DeviceEvents*>& devices) {
  DeviceEvents all;
  for (const DeviceEvents* const device : devices) {
    all.work.insert(all.work.end(), device->work.begin(), device->work.end());
    all.copies_in.insert(all.copies_in.end(), device->copies_in.begin(), device->copies_in.end());
    all.exchanges.insert(all.exchanges.end(), device->exchanges.begin(), device->exchanges.end());
    all.copies_between.insert(all.copies_between.end(), device->copies_between.begin(),
                              device->copies_between.end());
  }
  return all;
}

// Returns the gaps between the work of one device and that of another.
Intervals HandOvers(const std::vector<const DeviceEvents*>& devices) {
  std::vector<std::pair<Interval, const DeviceEvents*>> pieces;
  for (const DeviceEvents* const device : devices) {
    for (const Interval& piece : Union(device->work)) pieces.emplace_back(piece, device);
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  Intervals gaps;
  int64_t end = 0;
  const DeviceEvents* last = nullptr;
  for (const auto& [piece, device] : pieces) {
    if (last != nullptr && last != device && piece.begin > end && piece.begin - end < kHandOver) {
      gaps.push_back({end, piece.begin});
    }
    if (piece.end > end) {
      end = piece.end;
      last = device;
    }
  }
  return gaps;
}

// Adds the time that several devices compute, in total and without the busiest one.
void AddAllDevices(const std::vector<const DeviceEvents*>& devices,
                   std::vector<StepRecord>& steps) {
  std::vector<int64_t> most(steps.size());
  for (const DeviceEvents* const device : devices) {
    std::vector<int64_t> own(steps.size());
    VisitWithin(Union(device->work), steps,
                [&](const StepRecord& step, const Interval&, int64_t within) {
                  own[static_cast<size_t>(&step - steps.data())] += within;
                });
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].all_devices += own[i];
      most[i] = std::max(most[i], own[i]);
    }
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].more_devices = steps[i].all_devices - most[i];
  }
}

}  // namespace

void AccountDevices(const Intervals& waits, const Intervals& exchanges, const SortedEvents& sorted,
                    TrainerSteps& trainer) {
  std::vector<StepRecord>& steps = trainer.steps;
  const auto devices = FindDevices(trainer, sorted);
  const bool several = trainer.device == Event::kNoDevice;
  const bool launches_seen = sorted.launches.contains(trainer.process);
  DeviceEvents device = Joined(devices);
  trainer.device_seen = !device.work.empty();
  if (several) AddAllDevices(devices, steps);
  if (launches_seen) CountBegins(device.work, steps);
  const auto by_hosts = sorted.by_hosts.find(trainer.process);
  const Intervals copied =
      by_hosts == sorted.by_hosts.end() ? Intervals() : Union(by_hosts->second);
  // A single device may be a range of the host's time, which does not compute while the host waits
  // for other ranks or copies.
  Intervals work = Difference(Union(device.work), exchanges);
  if (!several) work = Difference(work, copied);
  const Intervals uncovered = Difference(waits, work);
  std::vector<Interval> streams;  // exchanges in kernels on other streams
  for (const auto& [lane, exchange] : device.exchanges) {
    if (lane != trainer.lane) streams.push_back(exchange);
  }
  const Intervals exchanging =
      Difference(Difference(Difference(Union(std::move(streams)), work), waits), exchanges);
  const Intervals in = Difference(Difference(Union(device.copies_in), work), waits);
  device.copies_between.insert(device.copies_between.end(), copied.begin(), copied.end());
  const Intervals between =
      Difference(Difference(Difference(Union(device.copies_between), work), waits), in);
  AddWithin(uncovered, steps, &StepRecord::uncovered_wait);
  AddWithin(work, steps, &StepRecord::device);
  AddWithin(exchanging, steps, &StepRecord::exchange);
  AddWithin(in, steps, &StepRecord::copies);
  AddWithin(between, steps, &StepRecord::device_copies);
  if (several) {
    Intervals moved = Difference(Difference(HandOvers(devices), waits), exchanges);
    AddWithin(Difference(Difference(moved, in), between), steps, &StepRecord::hand_overs);
  }
  if (!launches_seen || work.empty()) return;
  std::vector<Interval> busy(work);
  for (const Intervals* more : {&in, &between, &waits, &exchanges, &exchanging}) {
    busy.insert(busy.end(), more->begin(), more->end());
  }
  Intervals gaps = Gaps(Union(std::move(busy)), {work.front().begin, work.back().end});
  std::erase_if(gaps, [](const Interval& gap) { return gap.length() >= kLaunchGap; });
  AddWithin(gaps, steps, &StepRecord::launch_gaps);
}

}  // namespace recpack::probe
