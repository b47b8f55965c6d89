// Summarizes the use of a device.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "src/probe/steps/trace_summary.h"
#include "src/probe/util/intervals.h"

namespace recpack::probe {

// The pieces of one device, in any order.
struct DevicePieces {
  std::vector<Interval> compute;
  std::vector<Interval> exchange;  // NCCL's kernels
  std::vector<Interval> copies;
  std::set<uint32_t> streams;  // of compute and exchange
};

// Leaves `process` and `device` of the result to the caller.
DeviceUse SummarizeUse(DevicePieces pieces, size_t longest_gaps);

}  // namespace recpack::probe
