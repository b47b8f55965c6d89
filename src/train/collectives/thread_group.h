// Where the threads of one process meet for a collective call.
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

// A call has two meetings: all ranks post what they call, then all have done their share. Only the
// first can fail: between the two, ranks read and write each other's arrays, so none may leave.
class ThreadGroup {
 public:
  ThreadGroup(int size, const CollectiveOptions& options);

  int size() const noexcept { return static_cast<int>(calls_.size()); }

  // Posts the call of a rank; returns when all have posted theirs and they are the same.
  void Meet(int rank, const CollectiveCall& call);
  // As posted. Valid from Meet() until this rank's Part().
  const CollectiveCall& call(int rank) const { return calls_[static_cast<size_t>(rank)]; }
  // Returns when all have done their share.
  void Part() noexcept;

  void Abort(int rank, const std::string& reason) noexcept;
  void Check();
  // The rank takes no part any more.
  void Leave(int rank) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // The last one to arrive opens the way for all.
  void Open(Lock& lock) noexcept;
  // Waits for that. False: the group failed before, if `may_fail`; or the deadline has passed.
  bool Await(Lock& lock, bool may_fail);
  // The first one counts.
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
  std::atomic<uint64_t> meetings_ = 0;  // how many are over
};

}  // namespace recpack::train
