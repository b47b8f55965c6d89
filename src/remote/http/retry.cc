#include "src/remote/http/retry.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/format.h"
#include "src/remote/http/fetch_waits.h"
#include "src/remote/http/reactor.h"
#include "src/remote/http/xml.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kFirstPause{0.1}, kLongestPause{5}, kBudget{60}, kMostRetryAfter{30};
constexpr Seconds kForever{1e6};  // it is done earlier, at last by a timeout
// Unknown hosts and proxies that refuse are more often typos than outages.
constexpr Seconds kBudgetOfNames{3};

bool IsTransient(long status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

Seconds BudgetFor(ConnectionFault fault) {
  if (fault == ConnectionFault::kUntrusted) return Seconds(0);
  return fault == ConnectionFault::kOther ? kBudget : kBudgetOfNames;
}

const char* AdviceFor(ConnectionFault fault) {
  switch (fault) {
    case ConnectionFault::kUntrusted:
      return "name the file with the certificates of its authority: AWS_CA_BUNDLE or SSL_CERT_FILE";
    case ConnectionFault::kProxy:
      return "check the proxy in https_proxy or http_proxy, and no_proxy";
    default:
      return "check the network and the store's state";
  }
}

std::atomic<uint64_t> expired = 0;

// The credentials ended before this machine's clock says so: the next request is signed by new
// ones.
bool SaysExpired(const Exchange& exchange) {
  const long status = exchange.status();
  return (status == 400 || status == 401 || status == 403) &&
         FirstElement(exchange.text(), "Code") == "ExpiredToken";
}

// Returns the reason to send again; empty if the answer stands.
std::string Failure(const Exchange& exchange, const RefuseAnswer& refuse) {
  // The next one would be no smaller.
  if (exchange.is_too_large() || exchange.has_endless_headers()) return {};
  if (!exchange.error().empty()) return exchange.error();
  if (IsTransient(exchange.status())) return format("HTTP status {}", exchange.status());
  if (!exchange.HasItsRange()) return "the answer is shorter than its range";
  return refuse ? refuse(exchange) : "";
}

Seconds RetryAfter(const Exchange& exchange) {
  const std::string text = exchange.Header("retry-after");
  const bool is_number =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || text.size() > 6) return Seconds(0);
  return std::min(Seconds(std::stod(text)), kMostRetryAfter);
}

// Running estimate of the 95th percentile of the time to first byte: a later answer moves it up by
// 19 steps, an earlier one down by one. Shared by all threads; a lost update does not matter.
class UsualBegin {
 public:
  void Add(Seconds time) {
    const double now = value_.load(std::memory_order_relaxed);
    const double step = std::max(0.01 * now, 1e-4);
    value_.store(time.count() > now ? now + 19 * step : std::max(0.0, now - step),
                 std::memory_order_relaxed);
  }
  Seconds Patience() const {
    return std::max(kLeast, 3 * Seconds(value_.load(std::memory_order_relaxed)));
  }

 private:
  static constexpr Seconds kLeast{0.2};
  std::atomic<double> value_ = 0.1;
};
UsualBegin usual_begin;

// Second requests that may be sent: one in 20 requests, and some at the beginning.
constexpr int kRequestsASecond = 20, kSavedUp = 200;
std::atomic<int> requests_saved_up = kSavedUp / 2;

bool MaySendSecond() {
  if (requests_saved_up.fetch_sub(kRequestsASecond) >= kRequestsASecond) return true;
  requests_saved_up += kRequestsASecond;
  return false;
}

// Returns the completed exchange: the first, or its duplicate if that answered earlier. Either's
// body is in `into`.
std::shared_ptr<Exchange> AwaitFirst(const MakeRequest& make, std::span<uint8_t> into,
                                     std::shared_ptr<Exchange> exchange, Waited& waited) {
  WaitSpan first_byte(Wait::kFirstByte, waited);
  // One that was sent ahead of its use has had its time already.
  const Seconds patience = into.empty() ? kForever : usual_begin.Patience() - exchange->age();
  bool begun = exchange->WaitForBegin(patience);
  if (!begun && !MaySendSecond()) begun = exchange->WaitForBegin(kForever);
  if (begun) {
    first_byte.End();
    const WaitSpan transfer(Wait::kTransfer, waited);
    exchange->Wait();
    return exchange;
  }
  Traffic::Add(TrafficOfThread().hedged, 1);
  std::vector<uint8_t> memory(into.size());
  auto second = std::make_shared<Exchange>(make(), std::span(memory));
  Reactor::Get().Start(second);
  constexpr Seconds kLook{0.002};
  while (!second->done() && !exchange->WaitForBegin(kLook)) continue;
  const bool take_second = second->done() && second->ok() && !exchange->WaitForBegin(Seconds(0));
  Reactor::Get().Cancel(take_second ? exchange : second);
  first_byte.End();
  const WaitSpan transfer(Wait::kTransfer, waited);
  exchange->Wait();
  second->Wait();  // it writes to the memory here
  if (!take_second) return exchange;
  std::copy(memory.begin(), memory.end(), into.begin());
  return second;
}

Seconds Jitter(Seconds most) {
  thread_local std::minstd_rand random{std::random_device()()};
  return most * std::uniform_real_distribution<>(0, 1)(random);
}

}  // namespace

std::string RefusePart(const Exchange& exchange) {
  const auto range = exchange.ok() ? exchange.Range() : std::nullopt;
  if (!range || (range->first == 0 && range->last + 1 == range->total)) return {};
  return "expected the whole file, got a range";
}

std::shared_ptr<Exchange> SendWithRetries(const MakeRequest& make, std::span<uint8_t> into,
                                          const RefuseAnswer& refuse, const std::string& path,
                                          std::shared_ptr<Exchange> exchange) {
  const auto begin = Clock::now();
  FetchWaits waits(Reactor::Get().IsSlowed());
  Seconds pause = kFirstPause;
  bool was_expired = false;
  for (int tries = 1;; ++tries) {
    if (!exchange) {
      exchange = std::make_shared<Exchange>(make(), into);
      Reactor::Get().Start(exchange);
    }
    exchange = AwaitFirst(make, into, std::move(exchange), waits.waited());
    if (exchange->ok() && exchange->received() > 0) usual_begin.Add(exchange->time_to_begin());
    if (requests_saved_up < kSavedUp) ++requests_saved_up;
    std::string failure = Failure(*exchange, refuse);
    if (failure.empty() && !was_expired && SaysExpired(*exchange)) {
      was_expired = true;
      ++expired;
      failure = "expired credentials";
    }
    waits.CountRequest(*exchange, failure.empty());
    if (failure.empty()) return exchange;
    if (IsThrottled(exchange->status())) Reactor::Get().SlowDown();
    const Seconds wait = std::max(Jitter(pause), RetryAfter(*exchange));
    const ConnectionFault fault = exchange->fault();
    if (Clock::now() - begin + wait > BudgetFor(fault)) {
      const std::string said = tries == 1
                                   ? "failed: " + failure
                                   : format("failed {} times; last error: {}", tries, failure);
      throw Error(ErrorKind::kIo, said, {.path = WithoutSecrets(path)}, AdviceFor(fault));
    }
    waits.Pause(wait);
    pause = std::min(pause * 2, kLongestPause);
    exchange = nullptr;
  }
}

uint64_t CountExpired() noexcept { return expired; }

std::shared_ptr<Exchange> SendOnce(Request request, long milliseconds) {
  request.timeout_ms = milliseconds;
  auto exchange = std::make_shared<Exchange>(std::move(request));
  Reactor::Get().Start(exchange);
  exchange->Wait();
  return exchange;
}

}  // namespace recpack::remote
