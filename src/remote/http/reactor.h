// Reactor: one thread that runs many HTTP exchanges at once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "src/remote/http/exchange.h"

namespace recpack::remote {

class Reactor {
 public:
  // Returns the process's reactor; starts it at the first call, and anew in a forked child.
  // Thread-safe. Never destroyed. Throws Error (kUnsupported) without libcurl.
  static Reactor& Get();

  // Starts the exchange, or queues it while as many as the limit are under way. Thread-safe, does
  // not block. It is done in any case, at last by a timeout.
  void Start(std::shared_ptr<Exchange> exchange);

  // Lowers the limit, because the store asked for fewer requests. It rises again with each
  // exchange that succeeds.
  void SlowDown() noexcept;

 private:
  struct Running;

  Reactor();
  void Run() noexcept;
  void Step();
  void AddWaiting();
  void Add(std::shared_ptr<Exchange> exchange);
  void FinishDone();
  static size_t OnHeader(const char* data, size_t size, size_t count, void* running) noexcept;
  static size_t OnBody(const char* data, size_t size, size_t count, void* running) noexcept;

  const pid_t process_;
  void* const multi_;  // CURLM
  std::mutex mutex_;
  std::deque<std::shared_ptr<Exchange>> waiting_;  // guarded by mutex_
  double limit_;                                   // guarded by mutex_
  std::vector<void*> idle_;                        // CURL, of the reactor's thread
  size_t running_ = 0;                             // of the reactor's thread
};

}  // namespace recpack::remote
