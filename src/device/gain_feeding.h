// Keeps a feeder's lead, and reports what its consumers take, in a run of recprobe gain.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "recpack/base/gain.h"
#include "recpack/device/batch.h"
#include "recpack/loader/loader.h"
#include "src/device/gain_lead.h"

namespace recpack {

// Does nothing in other runs.
class GainFeeding {
 public:
  // Call before the loader's first batch. `mutex` guards the feeder's queues and `changed` is
  // notified of their changes; all three outlive this object.
  GainFeeding(Loader& loader, size_t consumers, std::mutex& mutex,
              std::condition_variable& changed);

  // Feeder's thread: call before requesting a step. `waiting` returns, under the lock, the number
  // of entries in a consumer's queue.
  template <typename Waiting, typename Stopped>
  void KeepLead(Waiting waiting, Stopped stopped) {
    if (!mark_) return;
    const auto ahead = [&] {
      std::ptrdiff_t fewest = PTRDIFF_MAX;
      for (size_t i = 0; i < consumers_.size(); ++i) {
        const auto entries = static_cast<std::ptrdiff_t>(waiting(i));
        fewest = std::min(fewest, entries - (consumers_[i].waits ? 1 : 0));
      }
      return fewest;
    };
    lead_.Keep(loader_.NextMode() == LoaderMode::kLive, mutex_, changed_, ahead, stopped);
  }

  // Consumer, under the lock: it asks for an entry, and waits if its queue is empty.
  void Asks(size_t consumer, bool waits) noexcept;
  // Consumer, under the lock: it has taken an entry.
  void Has(size_t consumer) noexcept;

  // Consumer: reports the batch that it takes; nullopt: the end of an epoch.
  void Tell(size_t consumer, const std::optional<DeviceBatch>& batch);

 private:
  struct Consumer {
    bool waits = false;
    GainPlan::Block block;  // of the last batch taken
  };

  Loader& loader_;
  std::mutex& mutex_;
  std::condition_variable& changed_;
  std::optional<GainMark> mark_;  // in a run of recprobe gain
  std::vector<Consumer> consumers_;
  GainLead lead_;  // feeder's thread only
};

}  // namespace recpack
