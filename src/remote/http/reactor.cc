#include "src/remote/http/reactor.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "src/remote/http/curl_library.h"

namespace recpack::remote {
namespace {

// Slow start until the store asks for fewer, then additive increase, multiplicative decrease (as
// TCP's congestion control, RFC 5681).
constexpr double kFirstLimit = 64, kLeastLimit = 1, kMostLimit = 256;
constexpr double kDecrease = 0.5;
constexpr long kConnectMilliseconds = 10'000;
constexpr long kSlowestBytes = 1024, kSlowSeconds = 20;  // slower for so long: a stall
constexpr long kReceiveBuffer = 256 << 10;
constexpr char kUnwanted[] = "not wanted any more";

thread_local bool is_reactors_thread = false;

// Returns the file with the certificates of the authorities to trust instead of the system's, by
// the variables of AWS's tools, curl and OpenSSL; null if none is set.
const char* AuthoritiesFile() {
  for (const char* name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (const char* file = std::getenv(name); file != nullptr && *file != '\0') return file;
  }
  return nullptr;
}

// `proxy_status`: of the proxy's answer to CONNECT; 0 if it was not asked.
ConnectionFault ToFault(CURLcode code, long proxy_status) {
  if (proxy_status >= 300) return ConnectionFault::kProxy;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return ConnectionFault::kUnknownHost;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return ConnectionFault::kProxy;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return ConnectionFault::kUntrusted;
    default:
      return ConnectionFault::kOther;
  }
}

}  // namespace

struct Reactor::Running {
  std::shared_ptr<Exchange> exchange;
  CURL* easy;
  LinkMeter* link;
  curl_slist* headers = nullptr;
  char error[CURL_ERROR_SIZE] = {};  // says more than its code
};

Reactor& Reactor::Get() {
  static std::atomic<Reactor*> current = nullptr;
  Reactor* there = current.load(std::memory_order_acquire);
  while (there == nullptr || there->process_ != ::getpid()) {
    auto made = std::unique_ptr<Reactor>(new Reactor);
    if (!current.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) continue;
    there = made.release();
    std::thread([there] { there->Run(); }).detach();
  }
  return *there;
}

Reactor::Reactor()
    : process_(::getpid()), multi_(Curl().multi_init()), loop_(multi_), limit_(kFirstLimit) {
  Curl().multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
}

void Reactor::Start(std::shared_ptr<Exchange> exchange) {
  {
    const std::lock_guard lock(mutex_);
    urgent_.push_back(std::move(exchange));
  }
  loop_.Wake();
}

void Reactor::Cancel(const std::shared_ptr<Exchange>& exchange) {
  exchange->unwanted_ = true;
  {
    const std::lock_guard lock(mutex_);
    some_unwanted_ = true;
  }
  loop_.Wake();
}

void Reactor::Queue(Starter starter) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(starter));
  }
  loop_.Wake();
}

void Reactor::SlowDown() noexcept {
  const std::lock_guard lock(mutex_);
  limit_ = std::max(kLeastLimit, limit_ * kDecrease);
  was_slowed_down_ = true;
}

bool Reactor::IsSlowed() const noexcept {
  const std::lock_guard lock(mutex_);
  return limit_ < kFirstLimit;
}

bool Reactor::IsItsThread() noexcept { return is_reactors_thread; }

void Reactor::Run() noexcept {
  is_reactors_thread = true;
  for (;;) Step();
}

void Reactor::Step() {
  AddWaiting();
  loop_.RunOnce();
  FinishDone();
  FinishUnwanted();
}

void Reactor::AddWaiting() {
  for (;;) {
    std::shared_ptr<Exchange> next;
    Starter starter;
    {
      const std::lock_guard lock(mutex_);
      if (!urgent_.empty()) {  // somebody waits for it
        next = std::move(urgent_.front());
        urgent_.pop_front();
      } else if (!queue_.empty() && static_cast<double>(active_.size()) < limit_) {
        starter = std::move(queue_.front());
        queue_.pop_front();
      } else {
        return;
      }
    }
    if (starter) next = starter();
    if (!next) continue;
    if (next->unwanted_) {
      next->Finish(0, kUnwanted);
    } else {
      Add(std::move(next));
    }
  }
}

void Reactor::Add(std::shared_ptr<Exchange> exchange) {
  const CurlLibrary& curl = Curl();
  CURL* const easy = idle_.empty() ? curl.easy_init() : idle_.back();
  if (!idle_.empty()) idle_.pop_back();
  auto running = std::make_unique<Running>(
      Running{.exchange = std::move(exchange), .easy = easy, .link = &link_});
  const Request& request = running->exchange->request();
  curl.easy_reset(easy);  // keeps connections
  for (const std::string& header : request.headers) {
    running->headers = curl.slist_append(running->headers, header.c_str());
  }
  // Waiting for "100 Continue" would cost a round trip.
  running->headers = curl.slist_append(running->headers, "Expect:");
  curl.easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl.easy_setopt(easy, CURLOPT_HTTPHEADER, running->headers);
  curl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.method == "HEAD") curl.easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (!request.body.empty() || request.method == "PUT" || request.method == "POST") {
    // libcurl's default is that of a form, which servers parse and take away.
    const bool has_type = std::ranges::any_of(request.headers, [](const std::string& header) {
      return header.starts_with("Content-Type:");
    });
    if (!has_type) {
      running->headers =
          curl.slist_append(running->headers, "Content-Type: application/octet-stream");
    }
    curl.easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  curl.easy_setopt(easy, CURLOPT_PRIVATE, running.get());
  curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Reactor::OnHeader);
  curl.easy_setopt(easy, CURLOPT_HEADERDATA, running.get());
  curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Reactor::OnBody);
  curl.easy_setopt(easy, CURLOPT_WRITEDATA, running.get());
  curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, running->error);
  if (const char* file = AuthoritiesFile()) curl.easy_setopt(easy, CURLOPT_CAINFO, file);
  curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  if (request.timeout_ms > 0) curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, request.timeout_ms);
  curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  curl.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, kSlowestBytes);
  curl.easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  curl.easy_setopt(easy, CURLOPT_BUFFERSIZE, kReceiveBuffer);
  curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  running->exchange->Start();
  curl.multi_add_handle(multi_, easy);
  active_.insert(running.release());
}

void Reactor::FinishDone() {
  const CurlLibrary& curl = Curl();
  int left = 0;
  while (const CURLMsg* const message = curl.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;
    long status = 0;
    curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    void* owner = nullptr;
    curl.easy_getinfo(easy, CURLINFO_PRIVATE, &owner);
    auto* const running = static_cast<Running*>(owner);
    long proxy_status = 0;
    curl.easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
    running->exchange->fault_ = ToFault(code, proxy_status);
    if (code == CURLE_OK && status < 300) {
      const std::lock_guard lock(mutex_);
      limit_ = std::min(kMostLimit, limit_ + (was_slowed_down_ ? 1 / limit_ : 1));
    }
    const std::string error = running->error[0] != '\0' ? running->error : curl.easy_strerror(code);
    Finish(running, status, code == CURLE_OK ? "" : error);
  }
}

void Reactor::FinishUnwanted() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(some_unwanted_, false)) return;
  }
  std::vector<Running*> unwanted;
  std::ranges::copy_if(active_, std::back_inserter(unwanted),
                       [](const Running* running) { return running->exchange->unwanted_.load(); });
  for (Running* const running : unwanted) Finish(running, 0, kUnwanted);
}

void Reactor::Finish(Running* ended, long status, std::string error) {
  const std::unique_ptr<Running> running(ended);
  Curl().multi_remove_handle(multi_, running->easy);
  Curl().slist_free_all(running->headers);
  active_.erase(ended);
  idle_.push_back(running->easy);
  running->exchange->Finish(status, std::move(error));
}

size_t Reactor::OnHeader(const char* data, size_t size, size_t count, void* given) noexcept {
  const bool goes_on = static_cast<Running*>(given)->exchange->AddHeader({data, size * count});
  return goes_on ? size * count : 0;  // 0 ends the exchange with an error
}

size_t Reactor::OnBody(const char* data, size_t size, size_t count, void* given) noexcept {
  auto& running = *static_cast<Running*>(given);
  Exchange& exchange = *running.exchange;
  if (exchange.received_ == 0) {
    Curl().easy_getinfo(running.easy, CURLINFO_RESPONSE_CODE, &exchange.status_);
    exchange.Begin();
    running.link->AddFirstByte(exchange.begin_ - exchange.start_);
  }
  const ByteView bytes(reinterpret_cast<const uint8_t*>(data), size * count);
  running.link->AddBytes(bytes.size(), LinkMeter::Clock::now());
  return exchange.AddBody(bytes) ? bytes.size() : 0;  // 0 ends the exchange with an error
}

}  // namespace recpack::remote
