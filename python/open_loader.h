// A loader that Python holds.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "python/running_calls.h"
#include "recpack/loader/dataset.h"
#include "recpack/loader/loader.h"

namespace recpack::python {

// Any thread. It is destroyed without the GIL, which its threads may wait for in a function of the
// user.
class OpenLoader {
 public:
  // With the GIL. While Next() waits it hears of Ctrl-C: signals' handlers run in it.
  OpenLoader(const Dataset& dataset, LoaderOptions options, SharedCalls running);
  ~OpenLoader() { Close(); }
  OpenLoader(const OpenLoader&) = delete;
  OpenLoader& operator=(const OpenLoader&) = delete;

  // With the GIL, of which it lets go. One thread at a time, the others wait for their turn. Throws
  // what Loader::Next() throws, and Error (kInvalidArgument) once it was closed.
  std::optional<Batch> Next();

  // Ends its threads, and a Next() that waits: both have ended then. With the GIL, of which it lets
  // go. Within Next(), in a signal's handler, and in a function of the loader: they end soon; where
  // no thread can be started for that, in AwaitEndings().
  void Close();

  // With the GIL, of which it lets go: waits for all loaders that were closed by functions of
  // theirs. Before the interpreter ends, which their threads still call.
  static void AwaitEndings();

  // Calls `use` with the loader. Throws Error (kInvalidArgument) where it was closed.
  template <typename Use>
  auto With(const Use& use) {
    std::unique_lock lock(kept_, std::defer_lock);
    if (!Forked()) lock.lock();  // what was locked stays so in a child
    return use(Open());
  }

 private:
  Loader& Open();
  std::optional<Batch> Wait();
  void WhileWaiting();
  void End(std::unique_lock<std::mutex> turn);
  bool Forked() const noexcept;

  // A call of Next(), until it has the GIL again and what it throws is Python's: a thread that is
  // still on its way there cannot be left behind where the interpreter ends.
  class Visit;

  const SharedCalls running_;
  const pid_t made_in_;
  std::atomic<bool> closing_ = false;
  std::atomic<std::thread::id> waiting_;  // in Next()
  std::mutex turn_;                       // of Next(), and of its end
  std::mutex kept_;                       // while it is held the loader stays
  std::unique_ptr<Loader> loader_;
  std::mutex visits_mutex_;
  std::condition_variable visit_ended_;
  int visits_ = 0;
};

}  // namespace recpack::python
