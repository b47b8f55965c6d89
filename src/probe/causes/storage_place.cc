#include <unistd.h>

#include <algorithm>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

// Share of the bytes read. Reads from memory do not wait, so a small share is enough.
constexpr double kMuchFetched = 0.1;
constexpr double kMuchAgain = 0.5;     // of the bytes fetched
constexpr double kWorthShowing = 1e6;  // bytes a second

std::string Megabytes(double bytes_per_second) {
  return format("{:.1f} MB/s", bytes_per_second * 1e-6);
}

struct Flow {
  double asked = 0;    // bytes read per second
  double fetched = 0;  // from disks
  double again = 0;    // refaults: in memory not long ago; of the whole machine
};

Flow MakeFlow(const SystemRates& system, const LoaderWork* work) {
  Flow flow;
  for (const ProcessRates& process : system.processes) {
    flow.asked += process.read_chars_per_second.value_or(0);
    flow.fetched += process.read_bytes_per_second.value_or(0);
  }
  // Mapped files are not read with read(2).
  if (work != nullptr) flow.asked = std::max(flow.asked, work->bytes_per_second);
  flow.again =
      system.refaults_per_second.value_or(0) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return flow;
}

bool Misses(const Flow& flow) {
  return flow.fetched > kMuchFetched * flow.asked && flow.fetched > 0;
}

void AddDevices(const SystemRates& system, Cause& cause) {
  for (const DeviceRates& device : system.devices) {
    if (device.read_bytes_per_second < kWorthShowing) continue;
    cause.evidence.push_back(format("{} supplied {}, busy {} of the time", device.name,
                                    Megabytes(device.read_bytes_per_second),
                                    Percent(device.busy_share)));
  }
}

}  // namespace

bool DisksGiveMuch(const Evidence& evidence, const LoaderWork* work) {
  return evidence.system && Misses(MakeFlow(*evidence.system, work));
}

void DescribeStorage(const Evidence& evidence, const LoaderWork* work, Cause& cause) {
  if (!evidence.system) return;
  const Flow flow = MakeFlow(*evidence.system, work);
  const bool misses = Misses(flow);
  const bool whole_epochs = work != nullptr && work->epochs > 0;
  const bool refaults = flow.again > kMuchAgain * flow.fetched;
  if (flow.asked > 0) {
    cause.evidence.push_back(format("of {} that were read, {} came from disks",
                                    Megabytes(flow.asked), Megabytes(flow.fetched)));
  }
  if (misses && (whole_epochs || refaults)) {
    cause.bottleneck = Bottleneck::kPageCache;
    cause.evidence.push_back(
        refaults ? format("{} were of pages that had been in memory not long ago",
                          Megabytes(std::min(flow.again, flow.fetched)))
                 : format("all of the data was read before: this is epoch {}", work->epochs + 1));
  } else if (!misses && flow.asked > kWorthShowing) {
    cause.evidence.push_back(
        "this machine's disks supplied little of it: it is a network file system, or a limit "
        "applies");
  }
  AddDevices(*evidence.system, cause);
}

void WaitsForDisks(const Situation& situation, Found& found) {
  if (situation.work != nullptr || !situation.evidence.system) return;
  const SystemRates& system = *situation.evidence.system;
  double io = 0, cpu = 0;
  for (const ThreadRates& thread : system.threads) {
    io += thread.block_io_wait_share.value_or(0);
    cpu += thread.cpu_share;
  }
  const IoPressure pressure = FindIoPressure(system);
  const double wait = ShareOfTime(situation.trainers[WaitsLongest(situation.trainers)],
                                  &StepRecord::uncovered_wait);
  if (io <= cpu && pressure.share <= wait) return;
  const double part = std::max(io / std::max(1e-9, io + cpu), pressure.share);
  Cause cause{
      .bottleneck = Bottleneck::kStorage,
      .saves = situation.pipeline.Saved(situation.pipeline.making * std::min(1.0, part)),
      .weight = part,
      .evidence = {
          format("threads waited for the disk {:.2f} s per second, and ran {:.2f} s", io, cpu),
          format("some task {} waited for I/O {} of the time", pressure.of,
                 Percent(pressure.share))}};
  DescribeStorage(situation.evidence, nullptr, cause);
  found.causes.push_back(std::move(cause));
}

}  // namespace recpack::probe
