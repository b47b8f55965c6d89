// Compares our declarations with NVML's header, if it is installed.
#include "src/probe/gpu/nvml_abi.h"

#include <gtest/gtest.h>
#include <nvml.h>

#include <cstddef>

namespace recpack::probe {
namespace {

TEST(NvmlAbiTest, StructuresAreNvmls) {
  EXPECT_EQ(sizeof(nvml::Utilization), sizeof(nvmlUtilization_t));
  EXPECT_EQ(offsetof(nvml::Utilization, memory), offsetof(nvmlUtilization_t, memory));
  EXPECT_EQ(sizeof(nvml::Memory), sizeof(nvmlMemory_t));
  EXPECT_EQ(offsetof(nvml::Memory, used), offsetof(nvmlMemory_t, used));
  EXPECT_EQ(sizeof(nvml::Memory2), sizeof(nvmlMemory_v2_t));
  EXPECT_EQ(offsetof(nvml::Memory2, reserved), offsetof(nvmlMemory_v2_t, reserved));
  EXPECT_EQ(offsetof(nvml::Memory2, used), offsetof(nvmlMemory_v2_t, used));
  EXPECT_EQ(nvml::kMemory2Version, nvmlMemory_v2);
  EXPECT_EQ(sizeof(nvml::ProcessInfo), sizeof(nvmlProcessInfo_v2_t));
  EXPECT_EQ(offsetof(nvml::ProcessInfo, memory), offsetof(nvmlProcessInfo_v2_t, usedGpuMemory));
}

TEST(NvmlAbiTest, CountersAreNvmls) {
  EXPECT_EQ(sizeof(nvml::GpmSupport), sizeof(nvmlGpmSupport_t));
  EXPECT_EQ(sizeof(nvml::GpmMetric), sizeof(nvmlGpmMetric_t));
  EXPECT_EQ(offsetof(nvml::GpmMetric, status), offsetof(nvmlGpmMetric_t, nvmlReturn));
  EXPECT_EQ(offsetof(nvml::GpmMetric, value), offsetof(nvmlGpmMetric_t, value));
  EXPECT_EQ(offsetof(nvml::GpmMetricsGet, before), offsetof(nvmlGpmMetricsGet_t, sample1));
  EXPECT_EQ(offsetof(nvml::GpmMetricsGet, metrics), offsetof(nvmlGpmMetricsGet_t, metrics));
  EXPECT_EQ(nvml::kGpmMetricsGetVersion, unsigned{NVML_GPM_METRICS_GET_VERSION});
  EXPECT_EQ(nvml::kGpmSmActive, unsigned{NVML_GPM_METRIC_SM_UTIL});
  EXPECT_EQ(nvml::kGpmSmOccupancy, unsigned{NVML_GPM_METRIC_SM_OCCUPANCY});
  EXPECT_EQ(nvml::kGpmTensorActive, unsigned{NVML_GPM_METRIC_ANY_TENSOR_UTIL});
  EXPECT_EQ(nvml::kGpmDramActive, unsigned{NVML_GPM_METRIC_DRAM_BW_UTIL});
  EXPECT_EQ(nvml::kGpmPcieTx, unsigned{NVML_GPM_METRIC_PCIE_TX_PER_SEC});
  EXPECT_EQ(nvml::kGpmPcieRx, unsigned{NVML_GPM_METRIC_PCIE_RX_PER_SEC});
  EXPECT_EQ(nvml::kGpmNvlinkRx, unsigned{NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC});
  EXPECT_EQ(nvml::kGpmNvlinkTx, unsigned{NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC});
}

TEST(NvmlAbiTest, NumbersAreNvmls) {
  EXPECT_EQ(nvml::kClockSm, unsigned{NVML_CLOCK_SM});
  EXPECT_EQ(nvml::kClockMemory, unsigned{NVML_CLOCK_MEM});
  EXPECT_EQ(nvml::kPcieTx, unsigned{NVML_PCIE_UTIL_TX_BYTES});
  EXPECT_EQ(nvml::kPcieRx, unsigned{NVML_PCIE_UTIL_RX_BYTES});
  EXPECT_EQ(nvml::kTemperatureGpu, unsigned{NVML_TEMPERATURE_GPU});
  EXPECT_EQ(nvml::kP2pRead, unsigned{NVML_P2P_CAPS_INDEX_READ});
  EXPECT_EQ(nvml::kP2pNvlink, unsigned{NVML_P2P_CAPS_INDEX_NVLINK});
  EXPECT_EQ(nvml::kP2pOk, unsigned{NVML_P2P_STATUS_OK});
  EXPECT_EQ(nvml::kOneBoard, unsigned{NVML_TOPOLOGY_INTERNAL});
  EXPECT_EQ(nvml::kOneSwitch, unsigned{NVML_TOPOLOGY_SINGLE});
  EXPECT_EQ(nvml::kSwitches, unsigned{NVML_TOPOLOGY_MULTIPLE});
  EXPECT_EQ(nvml::kHostBridge, unsigned{NVML_TOPOLOGY_HOSTBRIDGE});
  EXPECT_EQ(nvml::kNumaNode, unsigned{NVML_TOPOLOGY_NODE});
  EXPECT_EQ(nvml::kNumaNodes, unsigned{NVML_TOPOLOGY_SYSTEM});
  EXPECT_EQ(nvml::kUninitialized, NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvml::kNotSupported, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvml::kNoPermission, NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(nvml::kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvml::kDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(nvml::kTimeout, NVML_ERROR_TIMEOUT);
  EXPECT_EQ(nvml::kIrqIssue, NVML_ERROR_IRQ_ISSUE);
  EXPECT_EQ(nvml::kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
  EXPECT_EQ(nvml::kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(nvml::kResetRequired, NVML_ERROR_RESET_REQUIRED);
  EXPECT_EQ(nvml::kOperatingSystem, NVML_ERROR_OPERATING_SYSTEM);
  EXPECT_EQ(nvml::kVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  EXPECT_EQ(nvml::kUnknown, NVML_ERROR_UNKNOWN);
}

}  // namespace
}  // namespace recpack::probe
