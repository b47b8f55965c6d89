// Loader held by Python.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "python/calls/running_calls.h"
#include "recpack/loader/loader.h"

namespace recpack::python {

// Thread-safe. Must be destroyed without the GIL, which its threads may wait for in a user
// function.
class OpenLoader {
 public:
  // Requires the GIL. Next() handles Ctrl-C while it waits: signal handlers run in it.
  OpenLoader(const Mixture& samples, LoaderOptions options, SharedCalls running);
  ~OpenLoader() { Close(); }
  OpenLoader(const OpenLoader&) = delete;
  OpenLoader& operator=(const OpenLoader&) = delete;

  // Requires the GIL and releases it while waiting. One thread at a time; others wait for their
  // turn. Throws what Loader::Next() throws, and Error (kInvalidArgument) after close.
  std::optional<Batch> Next();

  // Ends the threads and a waiting Next(), and waits for them. Requires the GIL and releases it.
  // Within Next(), in a signal handler, and in a function of the loader, they end later, on another
  // thread; if no thread can be started for that, in AwaitEndings().
  void Close();

  // Waits for all loaders that were closed by their own functions. Requires the GIL and releases
  // it. Call this before the interpreter ends, since their threads still call it.
  static void AwaitEndings();

  // Calls `use` with the loader. Throws Error (kInvalidArgument) after close.
  template <typename Use>
  auto With(const Use& use) {
    std::unique_lock lock(kept_, std::defer_lock);
    if (!Forked()) lock.lock();  // in a child, locks may stay locked for ever
    return use(Open());
  }

 private:
  Loader& Open();
  std::optional<Batch> Wait();
  void WhileWaiting();
  void End(std::unique_lock<std::mutex> turn);
  bool Forked() const noexcept;

  // A call of Next(), until it has the GIL again and its exception is Python's. The interpreter
  // must not end while a thread is on its way there.
  class Visit;

  const SharedCalls running_;
  const pid_t made_in_;
  std::atomic<bool> closing_ = false;
  std::atomic<std::thread::id> waiting_;  // thread in Next()
  std::mutex turn_;                       // serialises Next() and closing
  std::mutex kept_;                       // keeps the loader alive while locked
  std::unique_ptr<Loader> loader_;
  std::mutex visits_mutex_;
  std::condition_variable visit_ended_;
  int visits_ = 0;
};

}  // namespace recpack::python
