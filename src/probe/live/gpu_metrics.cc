#include <functional>

#include "src/base/format.h"
#include "src/probe/live/metric_families.h"

namespace recpack::probe {
namespace {

template <typename T>
std::optional<double> Value(const Reading<T>& reading, double unit = 1) {
  if (!reading) return {};
  return static_cast<double>(*reading) * unit;
}

std::optional<double> Throttled(const GpuValues& values) {
  if (!values.clock_reasons) return {};
  bool any = false;
  for (const GpuClockReason& reason : *values.clock_reasons) any |= reason.throttled;
  return any ? 1 : 0;
}

void AddGpuFamily(const char* name, const char* help, const std::vector<GpuSample>& gpus,
                  const std::function<std::optional<double>(const GpuValues&)>& value,
                  Exposition& text) {
  text.Family(name, help);
  for (const GpuSample& gpu : gpus) {
    if (!gpu.values) continue;
    Exposition::Labels labels = {{"device", format("{}", gpu.device)}};
    if (gpu.name) labels.emplace_back("name", *gpu.name);
    if (gpu.uuid) labels.emplace_back("uuid", *gpu.uuid);
    text.Sample(value(*gpu.values), labels);
  }
}

}  // namespace

void AddGpus(const std::vector<GpuSample>& gpus, Exposition& text) {
  constexpr double kMega = 1e6;
  const auto add = [&](const char* name, const char* help, auto value) {
    AddGpuFamily(name, help, gpus, value, text);
  };
  add("recprobe_device_utilisation_ratio",
      "Share of the driver's last sample in which a kernel ran.",
      [](const GpuValues& values) { return Value(values.utilisation); });
  add("recprobe_device_sm_active_ratio", "Share of SMs with work (Hopper and newer).",
      [](const GpuValues& values) { return Value(values.counters.sm_active); });
  add("recprobe_device_tensor_active_ratio", "Activity of the tensor cores (Hopper and newer).",
      [](const GpuValues& values) { return Value(values.counters.tensor_active); });
  add("recprobe_device_memory_used_bytes", "Memory used on the device.",
      [](const GpuValues& values) { return Value(values.memory_used); });
  add("recprobe_device_memory_bytes", "Total memory of the device.",
      [](const GpuValues& values) { return Value(values.memory_total); });
  add("recprobe_device_power_watts", "Current power draw.",
      [](const GpuValues& values) { return Value(values.power); });
  add("recprobe_device_power_limit_watts", "Power limit.",
      [](const GpuValues& values) { return Value(values.power_limit); });
  add("recprobe_device_sm_clock_hertz", "Current SM clock.",
      [](const GpuValues& values) { return Value(values.sm_clock, kMega); });
  add("recprobe_device_throttled", "1 if the clock is throttled.", Throttled);
  add("recprobe_device_temperature_celsius", "Temperature of the GPU.",
      [](const GpuValues& values) { return Value(values.temperature); });
}

}  // namespace recpack::probe
