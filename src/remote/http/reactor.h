// Reactor: one thread that runs many HTTP exchanges at once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "src/remote/http/event_loop.h"
#include "src/remote/http/exchange.h"
#include "src/remote/http/link_meter.h"

namespace recpack::remote {

class Reactor {
 public:
  // Returns the process's reactor; starts it at the first call, and anew in a forked child.
  // Thread-safe. Never destroyed. Throws Error (kUnsupported) without libcurl.
  static Reactor& Get();

  // Tells whether the calling thread is a reactor's, which must not wait for an exchange.
  static bool IsItsThread() noexcept;

  // Returns the request to send now; null: none.
  using Starter = std::function<std::shared_ptr<Exchange>()>;

  // Starts the exchange, before those that are queued. Thread-safe, does not block. It is done in
  // any case, at last by a timeout.
  void Start(std::shared_ptr<Exchange> exchange);

  // Ends an exchange, whose answer is not wanted any more: it is done soon, with an error.
  // Thread-safe, does not block.
  void Cancel(const std::shared_ptr<Exchange>& exchange);

  // Queues an exchange until fewer than the limit are under way: then `starter` is called, on the
  // reactor's thread. It must not throw. Thread-safe, does not block.
  void Queue(Starter starter);

  // Lowers the limit, because the store asked for fewer requests. It rises again with each
  // exchange that succeeds.
  void SlowDown() noexcept;

  // Tells whether fewer requests are sent at once than in the beginning, because the store asked
  // for it. Thread-safe.
  bool IsSlowed() const noexcept;

  // Thread-safe as LinkMeter says.
  const LinkMeter& link() const noexcept { return link_; }

 private:
  struct Running;

  Reactor();
  void Run() noexcept;
  void Step();
  void AddWaiting();
  void Add(std::shared_ptr<Exchange> exchange);
  void FinishDone();
  void FinishUnwanted();
  void Finish(Running* ended, long status, std::string error);
  static size_t OnHeader(const char* data, size_t size, size_t count, void* running) noexcept;
  static size_t OnBody(const char* data, size_t size, size_t count, void* running) noexcept;

  const pid_t process_;
  void* const multi_;  // CURLM
  EventLoop loop_;
  LinkMeter link_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Exchange>> urgent_;  // guarded by mutex_
  std::deque<Starter> queue_;                     // guarded by mutex_
  double limit_;                                  // guarded by mutex_
  bool was_slowed_down_ = false;                  // guarded by mutex_
  bool some_unwanted_ = false;                    // guarded by mutex_
  std::unordered_set<Running*> active_;           // owned; of the reactor's thread
  std::vector<void*> idle_;                       // CURL, of the reactor's thread
};

}  // namespace recpack::remote
