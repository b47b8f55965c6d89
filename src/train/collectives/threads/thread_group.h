// Rendezvous of the threads of one process in a collective call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/collectives/collective.h"

namespace recpack::train {

// A call has two barriers: all ranks have posted their call, then all have done their share. Only
// the first can fail: in between, ranks access each other's arrays, so none may leave.
class ThreadGroup {
 public:
  ThreadGroup(int size, const CollectiveOptions& options);

  int size() const noexcept { return static_cast<int>(calls_.size()); }

  // Posts a rank's call; returns when all ranks have posted the same one.
  void Meet(int rank, const CollectiveCall& call);
  // The posted call. Valid from Meet() until this rank's Part().
  const CollectiveCall& call(int rank) const { return calls_[static_cast<size_t>(rank)]; }
  // Returns when all have done their share.
  void Part() noexcept;

  void Abort(int rank, const std::string& reason) noexcept;
  void Check();
  // The rank makes no more calls.
  void Leave(int rank) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Called by the last one to arrive: releases the others.
  void Open(Lock& lock) noexcept;
  // Waits for Open(). Returns false if the group failed before, and `may_fail`, or on timeout.
  bool Await(Lock& lock, bool may_fail);
  // Only the first failure is kept.
  void Fail(const Error& error);
  void ThrowIfFailed() const;
  std::vector<int> Missing() const;
  void CheckThatNoneLeft(const CollectiveCall& call);
  void CheckThatAllAgree();

  const CollectiveOptions options_;
  const int spins_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<CollectiveCall> calls_;
  std::vector<bool> here_;
  std::vector<bool> left_;
  int arrived_ = 0;
  std::optional<Error> failure_;
  std::atomic<bool> failed_ = false;    // failure_ is set
  std::atomic<uint64_t> meetings_ = 0;  // number completed
};

}  // namespace recpack::train
