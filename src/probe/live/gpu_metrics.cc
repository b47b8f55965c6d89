#include <functional>

#include "src/base/format.h"
#include "src/probe/live/metric_families.h"

namespace recpack::probe {
namespace {

template <typename T>
std::optional<double> ValueOf(const Reading<T>& reading, double unit = 1) {
  if (!reading) return {};
  return static_cast<double>(*reading) * unit;
}

std::optional<double> Throttled(const GpuValues& values) {
  if (!values.clock_reasons) return {};
  bool any = false;
  for (const GpuClockReason& reason : *values.clock_reasons) any |= reason.throttled;
  return any ? 1 : 0;
}

void OfGpus(const char* name, const char* help, const std::vector<GpuSample>& gpus,
            const std::function<std::optional<double>(const GpuValues&)>& value, Exposition& text) {
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
    OfGpus(name, help, gpus, value, text);
  };
  add("recprobe_device_utilisation_ratio", "Of the driver's last moment, a kernel ran.",
      [](const GpuValues& values) { return ValueOf(values.utilisation); });
  add("recprobe_device_sm_active_ratio", "SMs with work, where the GPU tells (Hopper and newer).",
      [](const GpuValues& values) { return ValueOf(values.counters.sm_active); });
  add("recprobe_device_tensor_active_ratio", "Tensor cores at work, where the GPU tells.",
      [](const GpuValues& values) { return ValueOf(values.counters.tensor_active); });
  add("recprobe_device_memory_used_bytes", "Of the device's memory.",
      [](const GpuValues& values) { return ValueOf(values.memory_used); });
  add("recprobe_device_memory_bytes", "The device's memory.",
      [](const GpuValues& values) { return ValueOf(values.memory_total); });
  add("recprobe_device_power_watts", "Drawn now.",
      [](const GpuValues& values) { return ValueOf(values.power); });
  add("recprobe_device_power_limit_watts", "That it may draw.",
      [](const GpuValues& values) { return ValueOf(values.power_limit); });
  add("recprobe_device_sm_clock_hertz", "Of its processors.",
      [](const GpuValues& values) { return ValueOf(values.sm_clock, kMega); });
  add("recprobe_device_throttled", "1 where something keeps it slower than its work would have it.",
      Throttled);
  add("recprobe_device_temperature_celsius", "Of the GPU.",
      [](const GpuValues& values) { return ValueOf(values.temperature); });
}

}  // namespace recpack::probe
