// Queues of batches that are ready for a feeder's consumers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recpack/device/batch.h"
#include "recpack/loader/loader.h"
#include "src/device/gain_feeding.h"
#include "src/device/gate.h"
#include "src/device/lane.h"

namespace recpack {

// The feeder's thread fills the queues step by step; each consumer takes from its own.
class StepQueues {
 public:
  // `lanes`: one per consumer, of `depth` slots each. Loader and gate must outlive the queues.
  StepQueues(std::vector<std::shared_ptr<Lane>> lanes, size_t depth, Loader& loader,
             const Gate& gate);

  size_t consumers() const noexcept { return queues_.size(); }
  Lane& lane(size_t consumer) { return *queues_[consumer].lane; }

  // Feeder's thread, before a step: waits in a run of recprobe gain.
  void KeepLead();
  // Feeder's thread: waits for a free slot of the consumer's lane; nullopt once Stop() was called.
  std::optional<size_t> TakeSlot(size_t consumer);
  // Feeder's thread: adds a batch to each queue, in the order of the consumers.
  void Publish(std::vector<DeviceBatch> step);
  // Feeder's thread: adds the end of an epoch to each queue.
  void EndEpoch();
  // Feeder's thread: consumers get the failure after the queued batches.
  void Fail(std::exception_ptr failure);

  // Consumer: waits for the next batch; nullopt at the end of an epoch. Throws Error: kDevice after
  // Abort(); kInvalidArgument if the consumer holds all of its batches; kIo, naming who is waited
  // for, if no batch came for the loader's stall_timeout; the failure of the feeder's thread.
  std::optional<DeviceBatch> Next(size_t consumer);

  // Thread-safe. Consumers that wait, and later ones, get an error with this reason.
  void Abort(const std::string& reason);
  // Thread-safe. Ends the waits of the feeder's thread.
  void Stop();

 private:
  struct Queue {
    std::shared_ptr<Lane> lane;
    std::deque<std::optional<DeviceBatch>> batches;  // nullopt: end of an epoch
  };

  std::optional<DeviceBatch> Take(size_t consumer);
  void CheckConsumers(const Queue& queue) const;

  const size_t depth_;
  Loader& loader_;
  const Gate& gate_;
  std::atomic<int> waits_for_ = -1;  // index of the consumer that has to make room

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Queue> queues_;    // per consumer
  std::exception_ptr failure_;  // thrown after the queued batches
  std::optional<std::string> abort_reason_;
  bool stopped_ = false;
  GainFeeding gain_;
};

}  // namespace recpack
