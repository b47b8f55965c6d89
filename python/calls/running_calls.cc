#include "python/calls/running_calls.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <system_error>

namespace recpack::python {
namespace nb = nanobind;
namespace {

constexpr auto kPatience = std::chrono::seconds(1);

}  // namespace

RunningCalls::Mark::Mark(RunningCalls& calls)
    : calls_(calls), thread_(PyThread_get_thread_ident()) {
  const std::lock_guard lock(calls_.mutex_);
  calls_.threads_.insert(thread_);
}

RunningCalls::Mark::~Mark() {
  const std::lock_guard lock(calls_.mutex_);
  calls_.threads_.erase(thread_);
}

void RunningCalls::Interrupt() {
  const std::lock_guard lock(mutex_);
  for (const auto thread : threads_) PyThreadState_SetAsyncExc(thread, PyExc_SystemExit);
}

bool RunningCalls::Inside() {
  const std::lock_guard lock(mutex_);
  return threads_.contains(PyThread_get_thread_ident());
}

Interrupter::Interrupter(RunningCalls& calls) : calls_(calls) {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): calls end on their own
  }
}

Interrupter::~Interrupter() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Interrupter::Run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kPatience, [&] { return done_; })) {
    lock.unlock();
    {
      const nb::gil_scoped_acquire locked;
      if (locked) calls_.Interrupt();
    }
    lock.lock();
  }
}

}  // namespace recpack::python
