// Events of libcurl's sockets and timers.
#pragma once

#include <chrono>
#include <optional>

#include "recpack/base/descriptor.h"
#include "src/remote/http/curl_library.h"

namespace recpack::remote {

// Drives the transfers of a CURLM by epoll (libcurl's multi_socket interface): the work is that of
// the sockets that are ready, where curl_multi_perform() would look at all transfers each time.
class EventLoop {
 public:
  // `multi` must outlive it. Throws Error (kIo) without descriptors.
  explicit EventLoop(CURLM* multi);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Waits for events, and lets libcurl handle them. For one thread.
  void RunOnce();

  // Makes RunOnce() return. Thread-safe, does not block.
  void Wake() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* loop,
                      void* of_socket) noexcept;
  static int OnTimer(CURLM* multi, long milliseconds, void* loop) noexcept;
  int TimeLeft() const;

  CURLM* const multi_;
  const Descriptor epoll_;
  const Descriptor wake_;
  std::optional<Clock::time_point> due_;  // when libcurl wants to be called
};

}  // namespace recpack::remote
