// How far a feeder is ahead of its consumers, across the blocks of a run of recprobe gain.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace recpack {

// Batches that need no making fill the feeder's queues. Where live ones follow again they are asked
// for only once the feeder is as far ahead as it was when the last live block ended: else that
// many batches would be made while the training is busy with others, and live look too fast.
class GainLead {
 public:
  // Before a step is asked for; `ahead` says, under the lock, how many wait for the consumer that
  // has fewest. Waits on `changed`, which is notified when one is taken, or `stopped` comes true.
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
