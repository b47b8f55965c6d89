// Requests that are repeated until they succeed or their time is over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "recpack/base/error.h"
#include "src/remote/http/exchange.h"

namespace recpack::remote {

// Returns what to send, signed for now.
using MakeRequest = std::function<Request()>;

// Returns why an answer is rejected, such as a range that was not requested; empty if it is
// accepted. A rejected request is retried.
using RefuseAnswer = std::function<std::string(const Exchange&)>;

// Refuses, of requests for "bytes=0-", answers that are a part of the object.
std::string RefusePart(const Exchange& exchange);

// Sends the request, and again after connections that fail, and after the statuses 408, 429, 500,
// 502, 503 and 504, and once where the store says that the credentials have expired: with full
// jitter up to 0.1 s, doubled each time up to 5 s, not before Retry-After, for 60 s; for 3 s after
// a host's name that has no address. `first`: an exchange of the same request that is under way, or
// null. A GET into memory whose answer has not begun after three times the usual time (but 0.2 s at
// least) is sent a second time, for one in 20 requests at most, and the first answer to come is
// taken. Returns the answer, of any other status, or one that is too large. Throws Error (kIo),
// with the last failure and `path`.
std::shared_ptr<Exchange> SendWithRetries(const MakeRequest& make, std::span<uint8_t> into,
                                          const RefuseAnswer& refuse, const std::string& path,
                                          std::shared_ptr<Exchange> first = nullptr);

// Returns how often a store said that credentials have expired. Thread-safe.
uint64_t CountExpired() noexcept;

// Sends the request once, and returns the answer after so many milliseconds at most: for what may
// not be there.
std::shared_ptr<Exchange> SendOnce(Request request, long milliseconds);

}  // namespace recpack::remote
