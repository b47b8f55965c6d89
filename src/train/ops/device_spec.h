// Devices by name.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace recpack::train {

enum class DeviceKind {
  kCpu,        // "cpu:0": its own threads and memory
  kCuda,       // "cuda:0", or "cuda:0/1": one of several logical devices on one GPU
  kSimulated,  // "sim:12ms": takes that long a step, and no processor
};

struct DeviceSpec {
  DeviceKind kind = DeviceKind::kCpu;
  int number = 0;
  int logical = 0;                         // of a GPU
  std::chrono::microseconds step_time{0};  // of a simulated one

  bool operator==(const DeviceSpec&) const = default;
};

std::string DeviceName(const DeviceSpec& device);

// "cpu:0,cpu:1". "cuda:local" is the GPU of the number `local_rank`: that of the process among
// those of its machine. Throws Error (kInvalidArgument) for what is no device, and for one named
// twice.
std::vector<DeviceSpec> ParseDevices(const std::string& text, int local_rank = 0);

}  // namespace recpack::train
