// Converts CUPTI's activity records to events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "recpack/base/event_log.h"
#include "src/probe/cupti/cupti_api.h"
#include "src/probe/cupti/cupti_clock.h"

namespace recpack::probe {

// Not thread-safe. Its memory is bounded, however many names and ranges the program uses.
class ActivityEvents {
 public:
  static constexpr size_t kMostNames = 1 << 16;
  static constexpr size_t kMostOpenRanges = 1 << 16;

  ActivityEvents(EventLog& log, const CuptiClock& clock) : log_(log), clock_(clock) {}

  // Sets the names of API calls by callback id. Calls with an empty name are not recorded.
  void SetCalls(std::vector<std::string> runtime, std::vector<std::string> driver);

  void Add(const CUpti_Activity& record);

  // Numbers of device activities without times, of names past kMostNames, and of ranges past
  // kMostOpenRanges.
  uint64_t unfinished() const noexcept { return unfinished_; }
  uint64_t unnamed() const noexcept { return unnamed_; }
  uint64_t lost_ranges() const noexcept { return lost_ranges_; }

 private:
  struct OpenRange {
    int64_t begin = 0;
    uint32_t name = 0;
    uint32_t lane = 0;
  };

  template <typename Record>
  bool FillDeviceEvent(const Record& record, EventKind kind, Event& event);
  void AddKernel(const CUpti_Activity& record);
  template <typename Record>
  void AddCopy(const CUpti_Activity& record);
  void AddFill(const CUpti_Activity& record);
  void AddCall(const CUpti_Activity& record, const std::vector<std::string>& names);
  void AddMarker(const CUpti_Activity& record);
  uint32_t Name(const std::string& name);
  struct KernelKind {
    uint32_t name = 0;
    EventKind kind = EventKind::kDevice;
  };
  KernelKind ClassifyKernel(const char* mangled);

  EventLog& log_;
  const CuptiClock& clock_;
  std::vector<std::string> runtime_calls_;
  std::vector<std::string> driver_calls_;
  std::unordered_map<std::string, uint32_t> names_;
  std::unordered_map<std::string, KernelKind> kernels_;  // by mangled name
  std::unordered_map<uint64_t, OpenRange> ranges_;
  uint64_t unfinished_ = 0;
  uint64_t unnamed_ = 0;
  uint64_t lost_ranges_ = 0;
};

}  // namespace recpack::probe
