// Summarizes the use of a device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "src/probe/steps/trace_summary.h"
#include "src/probe/util/intervals.h"

namespace recpack::probe {

// Sums up the activities of a device in order of time. Holds only those that are running.
class DeviceSweep {
 public:
  enum Work : uint8_t { kCompute, kExchange, kCopy };  // kExchange: NCCL's kernels

  explicit DeviceSweep(size_t longest_gaps) : longest_gaps_(longest_gaps) {}

  // `activity`: begins no earlier than the one before it. An empty one does not count.
  void Add(Work work, const Interval& activity);
  // Ends the sums. Leaves `process`, `device` and `streams` to the caller.
  DeviceUse Finish();

 private:
  void AdvanceTo(int64_t time);
  void Account(int64_t time);
  void AddGap(const DeviceGap& gap);
  void KeepLongestGaps();

  const size_t longest_gaps_;
  DeviceUse use_;
  bool any_ = false;
  int64_t at_ = 0;                      // everything before it is accounted for
  std::array<size_t, 3> running_ = {};  // activities, by Work
  std::priority_queue<std::pair<int64_t, Work>, std::vector<std::pair<int64_t, Work>>,
                      std::greater<>>
      ends_;  // of those
};

}  // namespace recpack::probe
