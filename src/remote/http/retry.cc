#include "src/remote/http/retry.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "src/base/format.h"
#include "src/remote/http/reactor.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kFirstPause{0.1}, kLongestPause{5}, kBudget{60}, kMostRetryAfter{30};

bool IsTransient(long status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

// Returns the reason to send again; empty if the answer stands.
std::string Failure(const Exchange& exchange, const RefuseAnswer& refuse) {
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

Seconds Jitter(Seconds most) {
  thread_local std::minstd_rand random{std::random_device()()};
  return most * std::uniform_real_distribution<>(0, 1)(random);
}

}  // namespace

std::shared_ptr<Exchange> SendWithRetries(const MakeRequest& make, std::span<uint8_t> into,
                                          const RefuseAnswer& refuse, const std::string& path,
                                          std::shared_ptr<Exchange> exchange) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(kBudget);
  Seconds pause = kFirstPause;
  for (int tries = 1;; ++tries) {
    if (!exchange) {
      exchange = std::make_shared<Exchange>(make(), into);
      Reactor::Get().Start(exchange);
    }
    exchange->Wait();
    const std::string failure = Failure(*exchange, refuse);
    if (failure.empty()) return exchange;
    if (exchange->status() == 503 || exchange->status() == 429) Reactor::Get().SlowDown();
    const Seconds wait = std::max(Jitter(pause), RetryAfter(*exchange));
    if (Clock::now() + std::chrono::duration_cast<Clock::duration>(wait) > end) {
      throw Error(ErrorKind::kIo, format("failed {} times; at last: {}", tries, failure),
                  {.path = WithoutSecrets(path)}, "check the network and the store's state");
    }
    std::this_thread::sleep_for(wait);
    pause = std::min(pause * 2, kLongestPause);
    exchange = nullptr;
  }
}

}  // namespace recpack::remote
