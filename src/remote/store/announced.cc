#include "src/remote/store/announced.h"

#include <algorithm>
#include <atomic>

#include "src/remote/http/reactor.h"

namespace recpack::remote {
namespace {

// Limit of announced bytes that were not used yet, for all objects together. Ranges beyond it are
// fetched when they are read.
constexpr uint64_t kMostAnnounced = uint64_t{256} << 20;
constexpr uint64_t kLargestPart = uint64_t{8} << 20;
// A part that is so many parts older than one that was used up is forgotten: what it holds was read
// before it was announced, or will not be read.
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

  const uint64_t number;  // in the order of announcements
  const uint64_t offset;
  // Guarded by the mutex of Announced:
  uint64_t end;  // grows until it is sent
  bool sent = false;
  uint64_t used = 0;  // bytes that were read
  // Written once, when it is sent:
  ByteBuffer memory;
  std::shared_ptr<Exchange> exchange;
  std::once_flag awaited;
};

void Announced::Add(uint64_t offset, uint64_t size) {
  if (size == 0 || announced + size > kMostAnnounced) return;
  std::shared_ptr<Part> part;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& each : parts_) {
      if (each->offset <= offset && offset < each->end) return;
      if (each->sent || each->end != offset || each->end - each->offset + size > kLargestPart) {
        continue;
      }
      each->end += size;
      announced += size;
      return;
    }
    part = std::make_shared<Part>(parts_made_++, offset, size);
    parts_.push_back(part);
  }
  Reactor::Get().Queue([own = shared_from_this(), part]() -> std::shared_ptr<Exchange> {
    const std::lock_guard lock(own->mutex_);
    return part->sent ? nullptr : own->Send(*part);
  });
}

// Requires mutex_. Makes the exchange, which the caller starts.
std::shared_ptr<Exchange> Announced::Send(Part& part) {
  part.sent = true;
  try {
    part.memory.resize(part.end - part.offset);
    part.exchange = std::make_shared<Exchange>(
        object_->MakeRequest(part.offset, part.memory.size()), std::span<uint8_t>(part.memory));
  } catch (...) {  // NOLINT(bugprone-empty-catch): the reader asks again, and throws
  }
  return part.exchange;
}

std::shared_ptr<Announced::Part> Announced::Find(uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      parts_, [&](const auto& part) { return part->offset <= offset && offset < part->end; });
  return found == parts_.end() ? nullptr : *found;
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
    part->memory.resize(part->end - part->offset);  // where it could not be made
    object_->Fetch(part->offset, part->memory, part->exchange);
  });
  const size_t size = std::min<uint64_t>(out.size(), part->end - offset);
  std::copy_n(part->memory.begin() + static_cast<ptrdiff_t>(offset - part->offset), size,
              out.begin());
  const std::lock_guard lock(mutex_);
  part->used += size;
  if (part->used >= part->memory.size()) {
    parts_.remove_if([&](const auto& each) {
      const bool is_old =
          each->number + kOldest < part->number && each->exchange && each->exchange->done();
      return each == part || is_old;
    });
  }
  return size;
}

void Announced::End() {
  std::list<std::shared_ptr<Part>> parts;
  {
    const std::lock_guard lock(mutex_);
    parts.swap(parts_);
    for (const auto& part : parts) part->sent = true;
  }
  for (const auto& part : parts) {
    if (part->exchange) part->exchange->Wait();
  }
}

}  // namespace recpack::remote
