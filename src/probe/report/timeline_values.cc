#include "src/probe/report/timeline_values.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "src/base/format.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

using Values = std::vector<TimelineValue>;

void Append(const char* group, std::string of, const char* name, const char* unit,
            const Figure& figure, Values& values) {
  if (figure) values.push_back({group, std::move(of), name, unit, *figure});
}

template <typename T>
void Append(const std::string& of, const char* name, const char* unit, const Reading<T>& reading,
            Values& values) {
  if (reading) values.push_back({"devices", of, name, unit, static_cast<double>(*reading)});
}

void AppendBytes(const char* group, const char* name, const Counter& bytes, Values& values) {
  if (bytes) values.push_back({group, "", name, "bytes", static_cast<double>(*bytes)});
}

// Share of time in which some task waited.
void AppendPressure(const char* of, const PressureShares& shares, Values& values) {
  Append("pressure", of, "cpu", "share", shares.cpu.some, values);
  Append("pressure", of, "io", "share", shares.io.some, values);
  Append("pressure", of, "memory", "share", shares.memory.some, values);
}

}  // namespace

void AppendValues(const SystemRates& rates, bool tree_seen, Values& values) {
  if (tree_seen) {
    values.push_back({"cpu", "", "the program", "cores", rates.tree_cores});
    Append("cpu", "", "others", "cores", rates.others_cores, values);
    values.push_back({"cpu", "", "recprobe", "cores", rates.own_cores});
  }
  Append("cpu", "", "held back by a quota", "cores", rates.throttled_cores, values);
  for (const CoreRates& core : rates.cores) {
    values.push_back({"cores", format("core {}", core.core), "busy", "share", core.busy_share});
  }
  AppendPressure("", rates.pressure, values);
  AppendPressure("in the container", rates.cgroup_pressure, values);
  for (const DeviceRates& disk : rates.devices) {
    values.push_back({"disks", disk.name, "read", "bytes/s", disk.read_bytes_per_second});
    values.push_back({"disks", disk.name, "written", "bytes/s", disk.written_bytes_per_second});
    values.push_back({"disks", disk.name, "busy", "share", disk.busy_share});
  }
  for (const NetworkRates& network : rates.network) {
    values.push_back(
        {"network", network.name, "received", "bytes/s", network.received_bytes_per_second});
    values.push_back({"network", network.name, "sent", "bytes/s", network.sent_bytes_per_second});
  }
  Append("memory", "", "page cache misses", "bytes/s", rates.page_cache_read_bytes_per_second,
         values);
  Append("memory", "", "pages that had left it", "pages/s", rates.refaults_per_second, values);
  if (tree_seen) {
    values.push_back({"memory", "", "the program's major faults", "faults/s",
                      rates.tree_major_faults_per_second});
  }
  Append("limits", "", "periods in which the quota was used up", "share",
         rates.throttled_periods_share, values);
}

void AppendValues(const SystemSample& sample, Values& values) {
  AppendBytes("memory", "available", sample.memory.available_bytes, values);
  AppendBytes("memory", "files in memory", sample.memory.cached_bytes, values);
  const CgroupSample& group = sample.cgroup;
  if (group.cpu_limit && std::isfinite(*group.cpu_limit)) {
    values.push_back({"limits", "", "processors", "cores", *group.cpu_limit});
  }
  AppendBytes("limits", "memory used", group.memory_used, values);
  if (group.memory_limit != kNoMemoryLimit) {
    AppendBytes("limits", "memory", group.memory_limit, values);
  }
}

void AppendValues(const GpuSample& sample, Values& values) {
  if (!sample.values) return;
  const GpuValues& gpu = *sample.values;
  const std::string of = format("GPU {}", sample.device);
  Append(of, "some kernel ran", "share", gpu.utilisation, values);
  Append(of, "SMs busy", "share", gpu.counters.sm_active, values);
  Append(of, "tensor cores busy", "share", gpu.counters.tensor_active, values);
  Append(of, "memory traffic", "share", gpu.counters.dram_active, values);
  Append(of, "power", "W", gpu.power, values);
  Append(of, "SM clock", "MHz", gpu.sm_clock, values);
  Append(of, "memory used", "bytes", gpu.memory_used, values);
  Append(of, "to the GPU", "bytes/s", gpu.pcie_rx, values);
  Append(of, "from the GPU", "bytes/s", gpu.pcie_tx, values);
  Append(of, "temperature", "degrees C", gpu.temperature, values);
}

void AppendValues(const LoaderSample& first, const LoaderSample& second, Values& values) {
  const double seconds = Seconds(second.time - first.time);
  if (seconds <= 0 || second.stats.samples < first.stats.samples) return;
  const std::string of = format("loader {} of process {}", second.stats.number, second.process);
  values.push_back(
      {"loader", of, "batches ready", "batches", static_cast<double>(second.stats.ready)});
  values.push_back({"loader", of, "given", "samples/s",
                    static_cast<double>(second.stats.samples - first.stats.samples) / seconds});
  const double workers = seconds * static_cast<double>(second.stats.workers.size());
  if (workers <= 0) return;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    const double time =
        Seconds(second.stats.Total(stage).time) - Seconds(first.stats.Total(stage).time);
    values.push_back({"stages", of, StageName(stage), "share", std::max(0.0, time / workers)});
  }
}

SystemSample WithoutProcesses(const SystemSample& sample) {
  return {.time_ns = sample.time_ns,
          .cores = sample.cores,
          .devices = sample.devices,
          .network = sample.network,
          .pressure = sample.pressure,
          .cgroup = sample.cgroup,
          .page_cache = sample.page_cache,
          .memory = sample.memory,
          .allowed_cores = sample.allowed_cores,
          .tree_cpu_ns = sample.tree_cpu_ns,
          .tree_major_faults = sample.tree_major_faults,
          .own_cpu_ns = sample.own_cpu_ns};
}

}  // namespace recpack::probe
