// Converts CUPTI's timestamps to the clock of event files.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/probe/cupti/cupti_api.h"

namespace recpack::probe {

class CuptiClock {
 public:
  // Makes CUPTI use our clock, or else measures the offset between the clocks. Call it before
  // tracing starts.
  void Start(const CuptiApi& api);
  // Measures the offset again, as CUPTI's own clock is the wall clock, which may be set.
  void Measure(const CuptiApi& api);

  int64_t FromCupti(uint64_t time) const noexcept {
    return static_cast<int64_t>(time) + offset_.load(std::memory_order_relaxed);
  }
  // Returns the change of the offset since Start() [ns].
  int64_t drift() const noexcept { return offset_ - first_; }

 private:
  bool ours_ = false;
  std::atomic<int64_t> offset_ = 0;  // ours minus CUPTI's, ns
  int64_t first_ = 0;
};

}  // namespace recpack::probe
