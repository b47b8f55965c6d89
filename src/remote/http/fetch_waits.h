// Waits of one fetch, counted for the thread that fetches.
#pragma once

#include <chrono>
#include <optional>

#include "src/remote/http/exchange.h"
#include "src/remote/http/traffic.h"

namespace recpack::remote {

// Tells whether a store asks for fewer requests by this status.
constexpr bool IsThrottled(long status) noexcept { return status == 429 || status == 503; }

// The waits until an answer is rejected are blamed on what rejected it, and so are those from then
// on. The destructor counts them. Used by one thread.
class FetchWaits {
 public:
  // `slowed`: the store asked for fewer requests before, so this one was sent late.
  explicit FetchWaits(bool slowed) noexcept : slowed_(slowed) {}
  ~FetchWaits();
  FetchWaits(const FetchWaits&) = delete;

  // To which spans of this fetch add their time.
  Waited& waited() noexcept { return waited_; }

  // Counts a request that is over.
  void CountRequest(const Exchange& exchange, bool accepted) noexcept;

  // Sleeps before a rejected request is sent again.
  void Pause(std::chrono::duration<double> time);

 private:
  const bool slowed_;
  Waited waited_;
  std::optional<Wait> blamed_;
};

}  // namespace recpack::remote
