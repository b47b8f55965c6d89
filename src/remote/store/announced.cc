#include "src/remote/store/announced.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <vector>

#include "src/remote/http/reactor.h"

namespace recpack::remote {
namespace {

// Limit of announced bytes that were not used yet, for all objects together. Ranges beyond it are
// fetched when they are read.
constexpr uint64_t kMostAnnounced = uint64_t{256} << 20;
constexpr uint64_t kLargestPart = uint64_t{8} << 20;
// A part is forgotten after so many later ones: what it holds was read before it was announced, or
// will not be read.
constexpr uint64_t kOldest = 4096;

std::atomic<uint64_t> announced = 0;

}  // namespace

struct Announced::Part {
  Part(uint64_t place, uint64_t at, uint64_t size) : number(place), offset(at), end(at + size) {
    announced += size;
  }
  ~Part() { announced -= end - offset; }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  size_t size() const noexcept { return end - offset; }
  std::span<uint8_t> bytes() noexcept { return {memory.get(), size()}; }

  const uint64_t number;  // in the order of announcements
  const uint64_t offset;
  // Guarded by the mutex of Announced:
  uint64_t end;  // grows until it is sent
  bool sent = false;
  uint64_t used = 0;  // bytes that were read
  // Written once, when it is sent:
  std::unique_ptr<uint8_t[]> memory;  // of size() bytes, not cleared
  std::shared_ptr<Exchange> exchange;
  std::once_flag awaited;
};

void Announced::Add(uint64_t offset, uint64_t size) {
  if (size == 0 || announced + size > kMostAnnounced) return;
  const uint64_t end = offset + size;
  std::vector<std::shared_ptr<Part>> added;
  {
    const std::lock_guard lock(mutex_);
    while (offset < end) {
      const auto next = parts_.upper_bound(offset);
      if (next != parts_.begin() && std::prev(next)->second->end > offset) {
        offset = std::prev(next)->second->end;  // announced
        continue;
      }
      const uint64_t gap_end = next == parts_.end() ? end : std::min(end, next->first);
      if (auto part = AddGap(offset, gap_end - offset)) added.push_back(std::move(part));
      offset = gap_end;
    }
  }
  for (const auto& part : added) {
    Reactor::Get().Queue([own = shared_from_this(), part]() -> std::shared_ptr<Exchange> {
      const std::lock_guard lock(own->mutex_);
      return part->sent ? nullptr : own->Send(*part);
    });
  }
}

// Requires mutex_, and that no part has bytes of the range. Extends the part before it, or returns
// a new one.
std::shared_ptr<Announced::Part> Announced::AddGap(uint64_t offset, uint64_t size) {
  const auto next = parts_.lower_bound(offset);
  if (next != parts_.begin()) {
    Part& before = *std::prev(next)->second;
    if (!before.sent && before.end == offset && before.end - before.offset + size <= kLargestPart) {
      before.end += size;
      announced += size;
      return nullptr;
    }
  }
  auto part = std::make_shared<Part>(parts_made_++, offset, size);
  parts_.emplace(offset, part);
  return part;
}

// Requires mutex_. Makes the exchange, which the caller starts.
std::shared_ptr<Exchange> Announced::Send(Part& part) {
  part.sent = true;
  try {
    part.memory = std::make_unique_for_overwrite<uint8_t[]>(part.size());
    part.exchange =
        std::make_shared<Exchange>(object_->MakeRequest(part.offset, part.size()), part.bytes());
  } catch (...) {  // NOLINT(bugprone-empty-catch): the reader asks again, and throws
  }
  return part.exchange;
}

std::shared_ptr<Announced::Part> Announced::Find(uint64_t offset) const {
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

size_t Announced::Take(uint64_t offset, std::span<uint8_t> out) {
  const std::shared_ptr<Part> part = Find(offset);
  if (!part) return 0;
  // The first reader waits, and sends again what failed.
  std::call_once(part->awaited, [&] {
    std::shared_ptr<Exchange> started;
    {
      const std::lock_guard lock(mutex_);
      if (!part->sent) started = Send(*part);
    }
    if (started) Reactor::Get().Start(started);
    // Where Send() could not make it.
    if (!part->memory) part->memory = std::make_unique_for_overwrite<uint8_t[]>(part->size());
    object_->Fetch(part->offset, part->bytes(), part->exchange);
    if (cache_) cache_->Store(part->offset, part->bytes());
  });
  const size_t size = std::min<uint64_t>(out.size(), part->end - offset);
  std::memcpy(out.data(), part->memory.get() + (offset - part->offset), size);
  const std::lock_guard lock(mutex_);
  part->used += size;
  // What is in the cache is read from there.
  const bool is_cached = cache_ && cache_->Has(part->offset, part->size());
  if (part->used >= part->size() || is_cached) {
    const auto found = parts_.find(part->offset);
    if (found != parts_.end() && found->second == part) {
      parts_.erase(found);
      ForgetOld();
    }
  }
  return size;
}

void Announced::End() {
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
