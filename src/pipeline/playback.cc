#include "src/pipeline/playback.h"

#include <algorithm>

#include "recpack/base/bytes.h"
#include "recpack/base/random.h"

namespace recpack {
namespace {

constexpr uint64_t kSyntheticSeed = 0x73796e7468;  // "synth"

// Floats in [0.5, 1): no value that a step has to treat apart.
void FillAtRandom(const ArraySpec& array, uint32_t samples, uint8_t* bytes) {
  KeyedRandom random(kSyntheticSeed, 0, array.offset);
  const size_t count = array.sample_bytes * samples / ValueBytes(array.type);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = random.NextU32();
    switch (array.type) {
      case ValueType::kU8:
        bytes[i] = static_cast<uint8_t>(bits);
        break;
      case ValueType::kF16:
        StoreLittleEndian(bytes + i * 2, static_cast<uint16_t>(0x3800 | (bits & 0x3ff)));
        break;
      case ValueType::kBf16:
        StoreLittleEndian(bytes + i * 2, static_cast<uint16_t>(0x3f00 | (bits & 0x7f)));
        break;
      case ValueType::kF32:
        StoreLittleEndian(bytes + i * 4, 0x3f000000U | (bits & 0x7fffff));
        break;
      default:
        return;  // integers are labels and lengths: 0 is one
    }
  }
}

}  // namespace

Playback::Playback(StatsBlocks& page, std::shared_ptr<Ring> ring, uint32_t chunks)
    : control_(page.control), ring_(std::move(ring)), chunks_(chunks) {}

LoaderMode Playback::Wanted() noexcept {
  uint64_t request = control_.request.load(std::memory_order_acquire);
  if (request == 0) return LoaderMode::kLive;
  const uint64_t mode = request & kModeBits;
  if (mode > static_cast<uint64_t>(LoaderMode::kSynthetic) ||
      MonotonicNow() > (request & ~kModeBits)) {
    control_.request.compare_exchange_strong(request, 0, std::memory_order_relaxed);
    return LoaderMode::kLive;
  }
  return static_cast<LoaderMode>(mode);
}

void Playback::Enter(LoaderMode mode) noexcept {
  if (mode == LoaderMode::kReplayAndWork) {
    ring_->AllowExtra(chunks_);
  } else if (mode_ == LoaderMode::kReplayAndWork) {
    ring_->ForbidExtra();
  }
  if (mode != LoaderMode::kLive) control_.given.fetch_add(1, std::memory_order_relaxed);
  if (mode == mode_) return;
  mode_ = mode;
  at_ = 0;
  if (mode == LoaderMode::kLive || mode == LoaderMode::kSynthetic) {
    control_.held.store(0, std::memory_order_relaxed);
  }
  control_.mode.store(static_cast<uint64_t>(mode), std::memory_order_release);
}

const Playback::Repeated& Playback::Repeat(uint64_t next) {
  if (at_ == 0) {
    for (uint64_t number = next + repeated_.size(); number < next + ring_->size(); ++number) {
      if (!ring_->Ready(number) || ring_->slot(number).failure) break;
      repeated_.push_back({number, Hold(number)});
    }
    control_.held.store(repeated_.size(), std::memory_order_relaxed);
    size_ = repeated_.size();
  }
  return repeated_[at_++ % size_];
}

std::shared_ptr<void> Playback::Hold(uint64_t number) {
  return {&ring_->slot(number), [ring = ring_, number](void*) { ring->Release(number); }};
}

std::shared_ptr<void> Playback::TakeHold(uint64_t number) {
  if (repeated_.empty()) return Hold(number);
  auto hold = std::move(repeated_.front().hold);
  repeated_.pop_front();
  return hold;
}

const std::shared_ptr<const Playback::Synthetic>& Playback::MadeUp(
    const std::vector<ArraySpec>& arrays, uint32_t samples, size_t slab_bytes,
    SlabAllocator& slabs) {
  if (synthetic_) return synthetic_;
  const auto made = std::make_shared<Synthetic>();
  made->slab = slabs.Allocate(slab_bytes);
  auto* const bytes = static_cast<uint8_t*>(made->slab.get());
  std::fill_n(bytes, slab_bytes, uint8_t{0});
  for (const ArraySpec& array : arrays) FillAtRandom(array, samples, bytes + array.offset);
  made->ids.resize(samples);
  made->views.resize(samples);
  made->mask.resize(samples, 1);
  synthetic_ = made;
  return synthetic_;
}

}  // namespace recpack
