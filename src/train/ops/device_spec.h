// Parses and prints device names.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace recpack::train {

enum class DeviceKind {
  kCpu,        // "cpu:0": has its own threads and memory
  kCuda,       // "cuda:0", or "cuda:0/1": one of several logical devices of a GPU
  kSimulated,  // "sim:12ms": each step sleeps for that time and uses no processor
};

struct DeviceSpec {
  DeviceKind kind = DeviceKind::kCpu;
  int number = 0;
  int logical = 0;                         // number among a GPU's logical devices
  std::chrono::microseconds step_time{0};  // of a simulated device

  bool operator==(const DeviceSpec&) const = default;
};

std::string DeviceName(const DeviceSpec& device);

// Parses a list such as "cpu:0,cpu:1". "cuda:local" is the GPU numbered `local_rank`, the rank of
// this process on its machine. Throws Error (kInvalidArgument) for an unknown device, and for a
// device named twice.
std::vector<DeviceSpec> ParseDevices(const std::string& text, int local_rank = 0);

}  // namespace recpack::train
