// From CUPTI's clock to that of event files.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/probe/cupti/cupti_api.h"

namespace recpack::probe {

class CuptiClock {
 public:
  // Before anything is traced: has CUPTI use our clock, or measures how far its own is from ours.
  void Start(const CuptiApi& api);
  // Measures again: the wall clock, which CUPTI's own is, may be set.
  void Measure(const CuptiApi& api);

  int64_t FromCupti(uint64_t time) const noexcept {
    return static_cast<int64_t>(time) + offset_.load(std::memory_order_relaxed);
  }
  // How far its clock went from ours since the start, ns.
  int64_t drift() const noexcept { return offset_ - first_; }

 private:
  bool ours_ = false;
  std::atomic<int64_t> offset_ = 0;  // ours minus CUPTI's, ns
  int64_t first_ = 0;
};

}  // namespace recpack::probe
