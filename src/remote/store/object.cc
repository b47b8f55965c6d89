#include "src/remote/store/object.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/remote/http/retry.h"

namespace recpack::remote {
namespace {

// Fetched when a file is opened: the end of a shard is compared with the index, and small files are
// there with one request.
constexpr uint64_t kTail = 64 << 10;

// Weak ETags do not promise that the bytes are the same (RFC 9110, 8.8.1).
bool IsStrong(const std::string& etag) { return !etag.empty() && !etag.starts_with("W/"); }

std::string RangeText(uint64_t offset, uint64_t size) {
  return format("bytes={}-{}", offset, offset + size - 1);
}

Request MakeTail(const Service& service, const Url& url, const Headers& headers) {
  Request request = service.Make("GET", url, headers);
  request.most_text = kTail;  // a server without ranges sends all of the file
  return request;
}

Headers TailHeaders() { return {{"Range", format("bytes=-{}", kTail)}}; }

}  // namespace

Request Object::TailRequest(const std::string& url) {
  const Url parsed = ParseUrl(url);
  return MakeTail(Service::ForScheme(parsed.scheme), parsed, TailHeaders());
}

Object::Object(const std::string& url, std::shared_ptr<Exchange> first)
    : path_(url), url_(ParseUrl(url)), service_(Service::ForScheme(url_.scheme)) {
  const auto refuse = [](const Exchange& exchange) -> std::string {
    const auto range = exchange.ok() ? exchange.Range() : std::nullopt;
    if (!range) return {};
    const bool is_tail =
        range->last + 1 == range->total && exchange.received() == std::min(range->total, kTail);
    return is_tail ? "" : "the answer has other bytes than the last ones";
  };
  const auto get = [&](const Headers& headers, std::shared_ptr<Exchange> sent) {
    const auto make = [&] { return MakeTail(service_, url_, headers); };
    return SendWithRetries(make, {}, refuse, path_, std::move(sent));
  };
  auto answer = get(TailHeaders(), std::move(first));
  // An empty object has no range; some stores refuse a range that is longer than the object, too.
  if (answer->status() == 416) answer = get({}, nullptr);
  if (answer->is_too_large()) {
    throw Error(ErrorKind::kUnsupported, "the server does not send ranges of files",
                {.path = WithoutSecrets(path_)}, "copy the file, or use a server that does");
  }
  if (!answer->ok()) throw service_.ToError(*answer, path_);
  version_ = answer->Header("etag");
  generation_ = answer->Header("x-goog-generation");
  tail_.assign(answer->text().begin(), answer->text().end());
  const auto range = answer->Range();
  size_ = range ? range->total : tail_.size();
}

std::pair<std::string, std::string> Object::OnlyInItsPlace() const {
  if (url_.scheme == "gs" && !generation_.empty()) {
    return {"x-goog-if-generation-match", generation_};
  }
  if (IsStrong(version_)) return {"If-Match", version_};
  throw Error(ErrorKind::kUnsupported, "the store tells no version of the object",
              {.path = WithoutSecrets(path_)}, "use a store that sends ETags");
}

Request Object::MakeRequest(uint64_t offset, uint64_t size) const {
  Headers headers = {{"Range", RangeText(offset, size)}};
  if (IsStrong(version_)) headers.emplace_back("If-Match", version_);
  return service_.Make("GET", url_, headers);
}

std::string Object::RefuseRange(const Exchange& exchange, uint64_t offset, uint64_t size) const {
  if (!exchange.ok()) return {};  // an error that stands
  const auto range = exchange.Range();
  // Some stores send 200 with the bytes of the range.
  const bool fits = range ? range->first == offset && range->last == offset + size - 1
                          : exchange.status() == 200 && exchange.received() == size;
  if (fits && exchange.received() == size) {
    if (!range || range->total == size_) return {};
  }
  return format("the answer has other bytes than {}", RangeText(offset, size));
}

void Object::Fetch(uint64_t offset, std::span<uint8_t> out, std::shared_ptr<Exchange> first) const {
  if (first) service_.RenewCredentials();
  const auto answer = SendWithRetries(
      [&] { return MakeRequest(offset, out.size()); }, out,
      [&](const Exchange& exchange) { return RefuseRange(exchange, offset, out.size()); }, path_,
      std::move(first));
  if (!answer->ok()) throw service_.ToError(*answer, path_);
  // Servers that do not know If-Match send what there is now.
  const std::string version = answer->Header("etag");
  if (!IsStrong(version_) || !IsStrong(version) || version == version_) return;
  throw service_.ChangedError(path_);
}

ByteBuffer Object::Content() const {
  if (tail_.size() == size_) return tail_;
  ByteBuffer content(size_);
  Fetch(0, content);
  return content;
}

}  // namespace recpack::remote
