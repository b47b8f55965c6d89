#include "src/train/collectives/threads/thread_group.h"

#include <algorithm>
#include <thread>

#include "recpack/base/clock.h"
#include "src/train/collectives/collective_failure.h"

namespace recpack::train {
namespace {

constexpr int kSpins = 64;  // about the time to put a thread to sleep and wake it

}  // namespace

ThreadGroup::ThreadGroup(int size, const CollectiveOptions& options)
    : options_(options),
      spins_(size > 1 ? kSpins : 0),
      calls_(static_cast<size_t>(size)),
      here_(calls_.size()),
      left_(calls_.size()) {}

void ThreadGroup::Meet(int rank, const CollectiveCall& call) {
  Lock lock(mutex_);
  ThrowIfFailed();
  calls_[static_cast<size_t>(rank)] = call;
  here_[static_cast<size_t>(rank)] = true;
  CheckThatNoneLeft(call);
  if (++arrived_ == size()) {
    CheckThatAllAgree();
    Open(lock);
  } else if (!Await(lock, true)) {
    // If a failure ended the wait, it takes precedence.
    Fail(LateError(Missing(), call, options_.timeout));
    ThrowIfFailed();
  }
}

void ThreadGroup::Part() noexcept {
  Lock lock(mutex_);
  if (++arrived_ == size()) {
    Open(lock);
  } else {
    Await(lock, false);
  }
}

void ThreadGroup::Open(Lock& lock) noexcept {
  arrived_ = 0;
  here_.assign(here_.size(), false);
  meetings_.fetch_add(1, std::memory_order_release);
  lock.unlock();
  changed_.notify_all();
}

bool ThreadGroup::Await(Lock& lock, bool may_fail) {
  const uint64_t seen = meetings_.load(std::memory_order_relaxed);
  const auto over = [&] { return meetings_.load(std::memory_order_acquire) != seen; };
  const auto ended = [&] { return over() || (may_fail && failed_); };
  lock.unlock();
  for (int i = 0; i < spins_; ++i) {
    if (over()) return true;
    std::this_thread::yield();
  }
  lock.lock();
  if (!may_fail) {
    changed_.wait(lock, over);
  } else {
    WaitPatiently(changed_, lock, options_.timeout, ended);
  }
  return over();
}

std::vector<int> ThreadGroup::Missing() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank) {
    if (!here_[static_cast<size_t>(rank)]) ranks.push_back(rank);
  }
  return ranks;
}

void ThreadGroup::CheckThatNoneLeft(const CollectiveCall& call) {
  const auto gone = std::find(left_.begin(), left_.end(), true);
  if (gone == left_.end()) return;
  Fail(LeftError(static_cast<int>(gone - left_.begin()), call));
  ThrowIfFailed();
}

void ThreadGroup::CheckThatAllAgree() {
  for (size_t rank = 1; rank < calls_.size(); ++rank) {
    if (SameCall(calls_[rank], calls_[0])) continue;
    Fail(MismatchError(0, calls_[0], static_cast<int>(rank), calls_[rank]));
    ThrowIfFailed();
  }
}

void ThreadGroup::Fail(const Error& error) {
  if (failure_) return;
  failure_ = error;
  failed_ = true;
  changed_.notify_all();
}

void ThreadGroup::ThrowIfFailed() const {
  if (failure_) throw Error(*failure_);
}

void ThreadGroup::Abort(int rank, const std::string& reason) noexcept {
  const Lock lock(mutex_);
  Fail(AbortError(rank, reason));
}

void ThreadGroup::Check() {
  if (!failed_) return;
  const Lock lock(mutex_);
  ThrowIfFailed();
}

void ThreadGroup::Leave(int rank) noexcept {
  const Lock lock(mutex_);
  left_[static_cast<size_t>(rank)] = true;
  const auto waits = std::find(here_.begin(), here_.end(), true);
  if (waits == here_.end()) return;
  const auto waiting = static_cast<size_t>(waits - here_.begin());
  Fail(LeftError(rank, calls_[waiting]));
}

}  // namespace recpack::train
