#include "src/train/ops/device_spec.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

std::optional<int> Number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
  return number;
}

// Parses "12ms", "800us", "1s".
std::optional<std::chrono::microseconds> Duration(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const double scale = unit == "s" ? 1e6 : unit == "ms" ? 1e3 : unit == "us" ? 1 : 0;
  if (error != std::errc() || scale == 0 || !(number >= 0 && number * scale < 1e12)) return {};
  return std::chrono::microseconds(static_cast<int64_t>(number * scale));
}

std::optional<DeviceSpec> ParseOne(std::string_view text, int local_rank) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view kind = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 1);
  DeviceSpec device;
  if (kind == "sim") {
    const auto time = Duration(rest);
    if (!time) return {};
    device.kind = DeviceKind::kSimulated;
    device.step_time = *time;
    return device;
  }
  if (kind != "cpu" && kind != "cuda") return {};
  device.kind = kind == "cpu" ? DeviceKind::kCpu : DeviceKind::kCuda;
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    const auto logical = Number(rest.substr(slash + 1));
    if (!logical || device.kind == DeviceKind::kCpu) return {};
    device.logical = *logical;
    rest = rest.substr(0, slash);
  }
  const bool local = device.kind == DeviceKind::kCuda && rest == "local";
  const auto number = local ? local_rank : Number(rest);
  if (!number) return {};
  device.number = *number;
  return device;
}

}  // namespace

std::string DeviceName(const DeviceSpec& device) {
  switch (device.kind) {
    case DeviceKind::kCpu:
      return format("cpu:{}", device.number);
    case DeviceKind::kCuda:
      return device.logical == 0 ? format("cuda:{}", device.number)
                                 : format("cuda:{}/{}", device.number, device.logical);
    case DeviceKind::kSimulated:
      break;
  }
  return format("sim:{}us", device.step_time.count());
}

std::vector<DeviceSpec> ParseDevices(const std::string& text, int local_rank) {
  std::vector<DeviceSpec> devices;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    begin = end + 1;
    const auto device = ParseOne(name, local_rank);
    if (!device) {
      throw Error(
          ErrorKind::kInvalidArgument, format("unknown device '{}'", name), {},
          "write a comma-separated list of cpu:0, cuda:0, cuda:0/1, cuda:local or sim:12ms");
    }
    const bool twice = device->kind != DeviceKind::kSimulated &&
                       std::find(devices.begin(), devices.end(), *device) != devices.end();
    if (twice) {
      throw Error(ErrorKind::kInvalidArgument, format("device {} is named twice", name), {},
                  "logical devices of one GPU are cuda:0/0, cuda:0/1");
    }
    devices.push_back(*device);
  }
  return devices;
}

}  // namespace recpack::train
