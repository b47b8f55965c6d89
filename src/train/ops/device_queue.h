// Work for devices, in order: how one model uses several of them at a time.
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

// What is given to a queue is done in order, by a thread of its own that the device's Ops is
// attached to, or at once by the caller. Used by one thread.
class DeviceQueue {
 public:
  enum class Done : uint8_t { kAtOnce, kByOwnThread };

  // `ops` has to outlive it. `device`: the number by which its thread tells a watcher of what it
  // computes; kNoDevice: it does not.
  DeviceQueue(Ops& ops, Done done, uint16_t device = Event::kNoDevice);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;

  Ops& ops() const noexcept { return ops_; }

  // What a piece of work is for a watcher: one that waits for another queue, or copies, computes
  // nothing.
  enum class Kind : uint8_t { kComputes, kMoves };
  // Once a piece of work has thrown, those behind it are not done. What `work` refers to has to
  // live until Join().
  void Do(std::function<void()> work, Kind kind = Kind::kComputes);
  // How much was given to it so far, for Await().
  uint64_t given() const noexcept { return given_; }

  // Within another queue's work: until that much is done. False: something failed, and what is
  // waited for may not have been done.
  bool Await(uint64_t given);
  // Until all that was given is done. Throws what a piece of work threw, once.
  void Join();
  // Both.
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
  uint64_t given_ = 0;  // of the thread that gives

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Piece> waiting_;
  uint64_t done_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace recpack::train
