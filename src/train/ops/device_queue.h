// Work queue for one device, for models that use several devices at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "recpack/base/event_log.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

// Runs work in order, either on a thread of its own that the device's Ops is attached to, or
// directly on the caller's thread. Not thread-safe: one thread enqueues.
class DeviceQueue {
 public:
  enum class Done : uint8_t { kAtOnce, kByOwnThread };

  // `ops` must outlive the queue. `device`: the device number that the queue's thread reports in
  // its events; kNoDevice: it reports none.
  DeviceQueue(Ops& ops, Done done, uint16_t device = Event::kNoDevice);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;

  Ops& ops() const noexcept { return ops_; }

  // Kind of work, for event logging. Work that waits for another queue, or copies, is kMoves.
  enum class Kind : uint8_t { kComputes, kMoves };
  // Enqueues `work`. After work has thrown, later work is skipped. What `work` refers to must stay
  // valid until Join().
  void Do(std::function<void()> work, Kind kind = Kind::kComputes);
  // Number of pieces of work enqueued so far; an argument for Await().
  uint64_t given() const noexcept { return given_; }

  // Called from work of another queue: blocks until the first `given` pieces are done. Returns
  // false if one failed, in which case the awaited work may not have run.
  bool Await(uint64_t given);
  // Blocks until all enqueued work is done. Rethrows the exception of failed work, once.
  void Join();
  void DoAndJoin(const std::function<void()>& work) {
    Do(work);
    Join();
  }

 private:
  struct Piece {
    std::function<void()> work;
    Kind kind = Kind::kComputes;
  };
  void Work();
  void Do(const Piece& piece);

  Ops& ops_;
  const uint16_t device_;
  uint64_t given_ = 0;  // used by the enqueuing thread only

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Piece> waiting_;
  uint64_t done_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace recpack::train
