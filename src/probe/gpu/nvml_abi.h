// Declarations of the used part of NVML's interface, as CUDA toolkits may lack its header. Checked
// against nvml.h of 13.0 (package nvidia-nvml-dev); tests/probe/nvml_abi_test.cc compares them if
// the header is installed.
#pragma once

#include <cstddef>

namespace recpack::probe::nvml {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kTimeout = 10;
inline constexpr Return kIrqIssue = 11;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kResetRequired = 16;
inline constexpr Return kOperatingSystem = 17;
inline constexpr Return kVersionMismatch = 18;
inline constexpr Return kUnknown = 999;

using Device = struct OpaqueDevice*;
using GpmSample = struct OpaqueGpmSample*;

inline constexpr unsigned kClockSm = 1;
inline constexpr unsigned kClockMemory = 2;
inline constexpr unsigned kPcieTx = 0;
inline constexpr unsigned kPcieRx = 1;
inline constexpr unsigned kTemperatureGpu = 0;
// Capabilities and a status of nvmlDeviceGetP2PStatus.
inline constexpr unsigned kP2pRead = 0;
inline constexpr unsigned kP2pNvlink = 2;
inline constexpr unsigned kP2pOk = 0;
// Levels of nvmlDeviceGetTopologyCommonAncestor.
inline constexpr unsigned kOneBoard = 0;
inline constexpr unsigned kOneSwitch = 10;
inline constexpr unsigned kSwitches = 20;
inline constexpr unsigned kHostBridge = 30;
inline constexpr unsigned kNumaNode = 40;
inline constexpr unsigned kNumaNodes = 50;
inline constexpr unsigned kNameSize = 96;  // for all strings
inline constexpr unsigned long long kValueNotAvailable = ~0ULL;

struct Utilization {
  unsigned gpu, memory;  // percent
};

struct Memory {
  unsigned long long total, free, used;  // used: including memory that the driver reserves
};

struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(Memory2) == 40 && offsetof(Memory2, used) == 32);
inline constexpr unsigned kMemory2Version = sizeof(Memory2) | 2u << 24;

// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v2 and _v3.
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24 && offsetof(ProcessInfo, memory) == 8);

struct GpmSupport {
  unsigned version, supported;
};
inline constexpr unsigned kGpmSupportVersion = 1;

enum GpmMetricId : unsigned {
  kGpmSmActive = 2,
  kGpmSmOccupancy = 3,
  kGpmTensorActive = 5,
  kGpmDramActive = 10,
  kGpmPcieTx = 20,  // MiB/s, as all that follow
  kGpmPcieRx = 21,
  kGpmNvlinkRx = 60,
  kGpmNvlinkTx = 61,
};

struct GpmMetric {
  unsigned id;
  Return status;
  double value;
  const char* names[3];
};
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetric, value) == 8);

// NVML reads only the first `count` metrics.
struct GpmMetricsGet {
  unsigned version, count;
  GpmSample before, after;
  GpmMetric metrics[210];
};
static_assert(offsetof(GpmMetricsGet, before) == 8 && offsetof(GpmMetricsGet, metrics) == 24);
inline constexpr unsigned kGpmMetricsGetVersion = 1;

}  // namespace recpack::probe::nvml
