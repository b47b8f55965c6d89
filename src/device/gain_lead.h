// Keeps a feeder's lead over its consumers across the blocks of a run of recprobe gain.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace recpack {

// Batches that cost nothing to make fill the feeder's queues. When a live block follows, its first
// batches are requested only once the lead has dropped to what it was at the end of the last live
// block. Otherwise that many batches would be made while the training still consumes the others,
// and live would look too fast.
class GainLead {
 public:
  // Call before requesting a step. `ahead` returns, under the lock, the queue length of the
  // consumer with the shortest queue. Waits on `changed`, which must be notified when a batch is
  // taken or `stopped` becomes true.
  template <typename Ahead, typename Stopped>
  void Keep(bool live, std::mutex& mutex, std::condition_variable& changed, Ahead ahead,
            Stopped stopped) {
    if (live == live_) return;
    std::unique_lock lock(mutex);
    live_ = live;
    if (!live) {
      lead_ = ahead();
      return;
    }
    changed.wait(lock, [&] { return stopped() || ahead() <= lead_; });
  }

 private:
  bool live_ = true;
  std::ptrdiff_t lead_ = 0;
};

}  // namespace recpack
