#include "src/remote/store/remote_file.h"

#include <algorithm>
#include <atomic>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/remote/http/reactor.h"
#include "src/remote/http/retry.h"

namespace recpack::remote {
namespace {

// Fetched when a file is opened: the end of a shard is compared with the index.
constexpr uint64_t kTail = 64;
// Of all files together: announced bytes that were not used yet. Beyond, ranges are fetched when
// they are read.
constexpr uint64_t kMostAnnounced = uint64_t{256} << 20;

std::atomic<uint64_t> announced = 0;

std::string RangeText(uint64_t offset, uint64_t size) {
  return format("bytes={}-{}", offset, offset + size - 1);
}

}  // namespace

struct RemoteFile::Part {
  Part(uint64_t at, uint64_t length) : offset(at), memory(length) { announced += length; }
  ~Part() { announced -= memory.size(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  uint64_t end() const noexcept { return offset + memory.size(); }

  const uint64_t offset;
  ByteBuffer memory;
  std::shared_ptr<Exchange> exchange;
  std::once_flag awaited;
  uint64_t used = 0;  // bytes that were read; guarded by mutex_
};

RemoteFile::RemoteFile(const std::string& url)
    : path_(url), url_(ParseUrl(url)), service_(Service::ForScheme(url_.scheme)) {
  const auto make = [&] {
    return service_.Make("GET", url_, {{"Range", format("bytes=-{}", kTail)}});
  };
  const auto answer = SendWithRetries(make, {}, nullptr, path_);
  version_ = answer->Header("etag");
  const auto range = answer->Range();
  if (answer->status() == 416) return;  // an empty object has no range
  if (!answer->ok()) throw service_.ToError(*answer, path_);
  tail_.assign(answer->text().begin(), answer->text().end());
  if (range) {
    size_ = range->total;
    if (tail_.size() == std::min(size_, kTail)) return;
  } else if (answer->status() == 200 && tail_.size() <= kTail) {  // small objects come whole
    size_ = tail_.size();
    return;
  }
  throw Error(ErrorKind::kUnsupported, "the server does not send ranges of files",
              {.path = WithoutSecrets(path_)}, "copy the file, or use a server that does");
}

RemoteFile::~RemoteFile() {
  // The reactor writes to the memory of parts.
  for (const auto& part : parts_) part->exchange->Wait();
}

Request RemoteFile::MakeRequest(uint64_t offset, uint64_t size) const {
  Headers headers = {{"Range", RangeText(offset, size)}};
  if (!version_.empty() && !version_.starts_with("W/")) headers.emplace_back("If-Match", version_);
  return service_.Make("GET", url_, headers);
}

std::string RemoteFile::RefuseRange(const Exchange& exchange, uint64_t offset,
                                    uint64_t size) const {
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

void RemoteFile::Fetch(uint64_t offset, std::span<uint8_t> out) const {
  const auto answer = SendWithRetries(
      [&] { return MakeRequest(offset, out.size()); }, out,
      [&](const Exchange& exchange) { return RefuseRange(exchange, offset, out.size()); }, path_);
  if (!answer->ok()) throw service_.ToError(*answer, path_);
}

size_t RemoteFile::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  if (offset >= size_) return 0;
  const size_t wanted = std::min<uint64_t>(out.size(), size_ - offset);
  size_t done = 0;
  while (done < wanted) {
    const uint64_t at = offset + done;
    std::span<uint8_t> rest = out.subspan(done, wanted - done);
    if (at >= size_ - tail_.size()) {
      std::copy_n(tail_.end() - static_cast<ptrdiff_t>(size_ - at), rest.size(), rest.begin());
      return wanted;
    }
    if (const auto part = FindPart(at)) {
      Await(*part);
      rest = rest.first(std::min<uint64_t>(rest.size(), part->end() - at));
      std::copy_n(part->memory.begin() + static_cast<ptrdiff_t>(at - part->offset), rest.size(),
                  rest.begin());
      Use(part, rest.size());
    } else {
      Fetch(at, rest);
    }
    done += rest.size();
  }
  return wanted;
}

void RemoteFile::WillNeed(uint64_t offset, uint64_t size) const noexcept {
  try {
    const uint64_t end = std::min(offset + size, size_ - tail_.size());
    if (offset >= end || FindPart(offset) || announced + (end - offset) > kMostAnnounced) return;
    const auto part = std::make_shared<Part>(offset, end - offset);
    part->exchange = std::make_shared<Exchange>(MakeRequest(offset, part->memory.size()),
                                                std::span<uint8_t>(part->memory));
    {
      const std::lock_guard lock(mutex_);
      parts_.push_back(part);
    }
    Reactor::Get().Start(part->exchange);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a hint; reading reports errors
  }
}

std::shared_ptr<RemoteFile::Part> RemoteFile::FindPart(uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto holds = [&](const auto& part) { return part->offset <= offset && offset < part->end(); };
  const auto found = std::ranges::find_if(parts_, holds);
  return found == parts_.end() ? nullptr : *found;
}

// The first reader sends again what failed.
void RemoteFile::Await(Part& part) const {
  std::call_once(part.awaited, [&] {
    const uint64_t size = part.memory.size();
    const auto answer = SendWithRetries(
        [&] { return MakeRequest(part.offset, size); }, part.memory,
        [&](const Exchange& exchange) { return RefuseRange(exchange, part.offset, size); }, path_,
        part.exchange);
    if (!answer->ok()) throw service_.ToError(*answer, path_);
  });
}

// Forgets a part of which everything was read.
void RemoteFile::Use(const std::shared_ptr<Part>& part, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  part->used += bytes;
  if (part->used >= part->memory.size()) parts_.remove(part);
}

}  // namespace recpack::remote
