// An HTTP request and its answer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"

namespace recpack::remote {

struct Request {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  long timeout_ms = 0;              // of all of it; 0: only stalls end it
  uint64_t most_text = UINT64_MAX;  // bytes of the answer's body, where it has no place of its own
};

// Inclusive range of bytes in an object, as in the header Content-Range.
struct ContentRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t total = 0;
};

// Faults of connections that do not pass by themselves soon.
enum class ConnectionFault : uint8_t {
  kOther,        // or none
  kUnknownHost,  // its name has no address
  kUntrusted,    // its certificate is not of an authority that is trusted, or not for this name
  kProxy,        // the proxy is unknown, or refused the connection
};

// Filled by the reactor's thread until done(); read-only afterwards. The request is the caller's
// until it is given to a reactor.
class Exchange {
 public:
  // The body of a successful answer goes to `into`, which must stay valid until the exchange is
  // done and must not be too small; to text() if it is empty.
  explicit Exchange(Request request, std::span<uint8_t> into = {})
      : request_(std::move(request)), into_(into) {}

  const Request& request() const noexcept { return request_; }

  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  void Wait() const;
  // Waits until the body begins or the exchange is done, but not longer; tells whether it did.
  bool WaitForBegin(std::chrono::duration<double> longest) const;

  // Time since it was made.
  std::chrono::duration<double> age() const noexcept {
    return std::chrono::steady_clock::now() - made_;
  }
  // After the body began: time from its start to the first byte.
  std::chrono::duration<double> time_to_begin() const noexcept { return begin_ - start_; }
  // After it is done: times from the start to the first byte of the body, and from there to the
  // end; without a body, the first is all of it.
  std::chrono::nanoseconds first_byte_time() const noexcept {
    return (received_ > 0 ? begin_ : end_) - start_;
  }
  std::chrono::nanoseconds transfer_time() const noexcept {
    return received_ > 0 ? end_ - begin_ : std::chrono::nanoseconds(0);
  }

  // After it is done:
  long status() const noexcept { return status_; }  // 0: no answer; error() says why
  bool ok() const noexcept { return error_.empty() && status_ >= 200 && status_ < 300; }
  const std::string& error() const noexcept { return error_; }  // of the connection
  bool is_too_large() const noexcept { return is_too_large_; }  // than Request::most_text
  bool has_endless_headers() const noexcept { return header_bytes_ > kMostHeaders; }
  ConnectionFault fault() const noexcept { return fault_; }
  size_t received() const noexcept { return received_; }      // bytes of the body
  const std::string& text() const noexcept { return text_; }  // body, of failures as well
  std::string Header(const std::string& name) const;          // by lower-case name; else empty
  std::optional<ContentRange> Range() const;
  // Tells whether the answer has all bytes of its Content-Range; true without one.
  bool HasItsRange() const;

 private:
  friend class Reactor;
  static constexpr size_t kMostHeaders = 256 << 10;

  void Start() noexcept { start_ = std::chrono::steady_clock::now(); }
  void Begin() noexcept;
  bool AddHeader(std::string_view line);  // false: too much
  bool AddBody(ByteView bytes);           // false: too much
  void Finish(long status, std::string error) noexcept;

  const Request request_;
  const std::span<uint8_t> into_;
  const std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
  long status_ = 0;
  std::string error_;
  ConnectionFault fault_ = ConnectionFault::kOther;
  bool is_too_large_ = false;
  size_t header_bytes_ = 0;
  size_t received_ = 0;
  std::string text_;
  std::map<std::string, std::string> headers_;
  std::chrono::steady_clock::time_point start_{}, begin_{}, end_{};
  std::atomic<bool> done_ = false;
  std::atomic<bool> unwanted_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool begun_ = false;  // guarded by mutex_
};

}  // namespace recpack::remote
