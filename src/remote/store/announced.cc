#include "src/remote/store/announced.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "recpack/base/buffer_pool.h"
#include "src/remote/http/per_process.h"
#include "src/remote/http/reactor.h"
#include "src/remote/http/traffic.h"
#include "src/remote/store/ahead_memory.h"

namespace recpack::remote {
namespace {

constexpr uint64_t kLargestPart = uint64_t{8} << 20;
// Neighbours are fetched together if no more than this was announced between them. What is read
// much later would take the memory for fetching ahead from what is read next.
constexpr uint64_t kTogether = uint64_t{128} << 20;
// A part is forgotten after so many later ones: what it holds was read before it was announced, or
// will not be read.
constexpr uint64_t kOldest = 4096;

// Fresh pages cost a fifth of the time that it takes to receive what is written to them.
BufferPool& Pool() {
  struct Kept {
    std::shared_ptr<BufferPool> pool = std::make_shared<BufferPool>(size_t{32} << 20);
  };
  static PerProcess<Kept> kept;
  return *kept.Get().pool;
}

}  // namespace

struct Announced::Part {
  Part(uint64_t place, uint64_t at, uint64_t size, uint64_t before)
      : number(place), offset(at), announced_before(before), end(at + size), wanted(size) {}
  ~Part() { GiveBack(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Ends its share of the memory for fetching ahead.
  void GiveBack() noexcept {
    if (std::exchange(process, 0) == ::getpid()) AheadMemory::Get().Give(size());
  }

  size_t size() const noexcept { return end - offset; }
  std::span<uint8_t> bytes() noexcept { return {memory.get(), size()}; }

  const uint64_t number;  // in the order of announcements
  const uint64_t offset;
  const uint64_t announced_before;  // bytes of all objects
  // Guarded by the mutex of Announced:
  uint64_t end;  // grows until it is sent
  bool sent = false;
  // Bytes read and to be read: more than there are where the turns of further epochs are announced.
  uint64_t wanted;
  uint64_t used = 0;  // bytes that were read
  // Written when it is sent:
  pid_t process = 0;                  // whose memory for fetching ahead was taken; 0: given back
  std::shared_ptr<uint8_t[]> memory;  // of size() bytes, not cleared
  std::shared_ptr<Exchange> exchange;
  std::once_flag awaited;
  Waited waited;  // of the first reader
};

// In a forked child the parent's requests do not end, and its locks may be held.
bool Announced::IsForked() const noexcept { return process_ != ::getpid(); }

void Announced::Add(uint64_t offset, uint64_t size) {
  if (IsForked() || size == 0 || size > AheadMemory::kMost) return;
  const uint64_t end = offset + size;
  std::vector<std::shared_ptr<Part>> added;
  {
    const std::lock_guard lock(mutex_);
    while (offset < end) {
      const auto next = parts_.upper_bound(offset);
      if (next != parts_.begin() && std::prev(next)->second->end > offset) {
        Part& part = *std::prev(next)->second;  // announced, and so used once more
        part.wanted += std::min(end, part.end) - offset;
        offset = part.end;
        continue;
      }
      const uint64_t gap_end = next == parts_.end() ? end : std::min(end, next->first);
      if (auto part = AddGap(offset, gap_end - offset)) added.push_back(std::move(part));
      offset = gap_end;
    }
  }
  for (const auto& part : added) Queue(part, 0);
}

// `reserved`: of the memory for fetching ahead.
void Announced::Queue(const std::shared_ptr<Part>& part, uint64_t reserved) {
  Reactor::Get().Queue([own = shared_from_this(), part, reserved]() -> std::shared_ptr<Exchange> {
    const std::lock_guard lock(own->mutex_);
    AheadMemory& ahead = AheadMemory::Get();
    if (part->sent) {
      ahead.Give(reserved);
      return nullptr;
    }
    const auto again = [own, part](uint64_t size) { own->Queue(part, size); };
    if (reserved == 0 && !ahead.Take(part->size(), again)) return nullptr;
    if (reserved > 0) ahead.TakeAnyway(part->size() - reserved);
    return own->Send(*part);
  });
}

// Requires mutex_, and that no part has bytes of the range. Extends the part before it, or returns
// a new one.
std::shared_ptr<Announced::Part> Announced::AddGap(uint64_t offset, uint64_t size) {
  const auto next = parts_.lower_bound(offset);
  const uint64_t announced = AheadMemory::Get().CountAnnounced(size);
  if (next != parts_.begin()) {
    Part& before = *std::prev(next)->second;
    if (!before.sent && before.end == offset && before.end - before.offset + size <= kLargestPart &&
        announced - before.announced_before <= kTogether) {
      before.end += size;
      before.wanted += size;
      return nullptr;
    }
  }
  auto part = std::make_shared<Part>(parts_made_++, offset, size, announced);
  parts_.emplace(offset, part);
  return part;
}

// Requires mutex_, and that memory was taken for the part. Makes the exchange, which the caller
// starts.
std::shared_ptr<Exchange> Announced::Send(Part& part) {
  part.sent = true;
  part.process = process_;
  try {
    part.memory = Pool().Take(part.size());
    part.exchange =
        std::make_shared<Exchange>(object_->MakeRequest(part.offset, part.size()), part.bytes());
  } catch (...) {  // NOLINT(bugprone-empty-catch): the reader asks again, and throws
  }
  return part.exchange;
}

std::shared_ptr<Announced::Part> Announced::Find(uint64_t offset) const {
  if (IsForked()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto next = parts_.upper_bound(offset);
  if (next == parts_.begin()) return nullptr;
  const auto& part = std::prev(next)->second;
  return offset < part->end ? part : nullptr;
}

// Requires mutex_.
void Announced::ForgetOld() {
  constexpr uint64_t kLookEvery = 256;
  if (++parts_ended_ % kLookEvery != 0 || parts_made_ < kOldest) return;
  std::erase_if(parts_, [&](const auto& each) {
    const Part& part = *each.second;
    return part.number < parts_made_ - kOldest && part.exchange && part.exchange->done();
  });
}

// Returns when the part's bytes are there. The first reader waits, and sends again what failed.
void Announced::Await(const std::shared_ptr<Part>& part) {
  const auto begin = std::chrono::steady_clock::now();
  bool is_first = false;
  std::call_once(part->awaited, [&] {
    is_first = true;
    {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(part->sent, true)) {
        // Fetch() below makes the request: signing may wait for the reactor, which takes the lock.
        part->process = process_;
        AheadMemory::Get().TakeAnyway(part->size());
      }
    }
    if (!part->memory) part->memory = Pool().Take(part->size());
    const Waited before = WaitedOfThread();
    object_->Fetch(part->offset, part->bytes(), part->exchange);
    part->waited = WaitedOfThread() - before;
    if (cache_) cache_->Store(part->offset, part->bytes());
    part->GiveBack();
  });
  // Others waited for the same.
  if (!is_first) part->waited.CountAs(std::chrono::steady_clock::now() - begin);
}

void Announced::MarkUsed(const std::shared_ptr<Part>& part, uint64_t size) {
  const std::lock_guard lock(mutex_);
  part->used += size;
  // Cached parts are read from the cache: they are dropped here.
  const bool is_cached = cache_ && cache_->Has(part->offset, part->size());
  if (part->used >= part->wanted || is_cached) {
    const auto found = parts_.find(part->offset);
    if (found != parts_.end() && found->second == part) {
      parts_.erase(found);
      ForgetOld();
    }
  }
}

size_t Announced::Take(uint64_t offset, std::span<uint8_t> out) {
  const std::shared_ptr<Part> part = Find(offset);
  if (!part) return 0;
  Await(part);
  const size_t size = std::min<uint64_t>(out.size(), part->end - offset);
  std::memcpy(out.data(), part->memory.get() + (offset - part->offset), size);
  MarkUsed(part, size);
  return size;
}

ByteView Announced::View(uint64_t offset, uint64_t size, std::shared_ptr<const void>& owner) {
  const std::shared_ptr<Part> part = Find(offset);
  if (!part) return {};
  Await(part);  // from here on it does not grow
  if (size > part->end - offset) return {};
  const uint8_t* const bytes = part->memory.get() + (offset - part->offset);
  owner = part->memory;
  MarkUsed(part, size);
  return {bytes, size};
}

void Announced::End() {
  if (IsForked()) return;
  std::map<uint64_t, std::shared_ptr<Part>> parts;
  {
    const std::lock_guard lock(mutex_);
    parts.swap(parts_);
    for (const auto& [offset, part] : parts) part->sent = true;
  }
  for (const auto& [offset, part] : parts) {
    if (part->exchange) part->exchange->Wait();
  }
}

}  // namespace recpack::remote
