#include "src/loader/experiment/playback.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "recpack/base/bytes.h"
#include "recpack/base/clock.h"
#include "recpack/base/random.h"

namespace recpack {
namespace {

constexpr uint64_t kSyntheticSeed = 0x73796e7468;  // "synth"
constexpr size_t kMostKeptBytes = 256 << 20;

// Floats in [0.5, 1): no special values for a training step.
void FillAtRandom(const ArraySpec& array, uint32_t samples, uint8_t* bytes) {
  KeyedRandom random(kSyntheticSeed, 0, array.offset);
  const size_t count = array.sample_bytes * samples / ElementBytes(array.type);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = random.NextU32();
    switch (array.type) {
      case ElementType::kU8:
        bytes[i] = static_cast<uint8_t>(bits);
        break;
      case ElementType::kF16:
        StoreLittleEndian(bytes + i * 2, static_cast<uint16_t>(0x3800 | (bits & 0x3ff)));
        break;
      case ElementType::kBf16:
        StoreLittleEndian(bytes + i * 2, static_cast<uint16_t>(0x3f00 | (bits & 0x7f)));
        break;
      case ElementType::kF32:
        StoreLittleEndian(bytes + i * 4, 0x3f000000U | (bits & 0x7fffff));
        break;
      default:
        return;  // integers are labels and lengths: 0 is valid
    }
  }
}

}  // namespace

Playback::Playback(StatsBlocks& page, std::shared_ptr<Ring> ring, Layout layout,
                   SlabAllocator& slabs)
    : control_(page.control),
      ring_(std::move(ring)),
      layout_(std::move(layout)),
      slabs_(slabs),
      most_(std::clamp<size_t>(kMostKeptBytes / std::max<size_t>(layout_.slab_bytes, 1), 1,
                               ring_->size())) {}

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
    ring_->AllowExtra(layout_.chunks);
  } else if (mode_ == LoaderMode::kReplayAndWork) {
    ring_->ForbidExtra();
  }
  if (mode != LoaderMode::kLive) control_.given.fetch_add(1, std::memory_order_relaxed);
  ring_->Pause(mode != LoaderMode::kLive);
  if (mode == mode_) return;
  mode_ = mode;
  at_ = 0;
  const bool repeats = mode == LoaderMode::kReplay || mode == LoaderMode::kReplayAndWork;
  control_.held.store(repeats ? kept_.size() : 0, std::memory_order_relaxed);
  control_.mode.store(static_cast<uint64_t>(mode), std::memory_order_release);
}

void Playback::Keep(uint64_t number, const BatchFacts& facts) {
  const BatchMemory& from = *ring_->slot(number).memory;
  const auto copy = std::make_shared<Kept>();
  try {
    copy->slab = slabs_.Allocate(layout_.slab_bytes);
  } catch (const std::exception&) {
    if (kept_.empty()) throw;
    most_ = kept_.size();
    return;
  }
  std::copy_n(from.bytes(), layout_.slab_bytes, copy->bytes());
  copy->ids = from.ids;
  copy->views = from.views;
  copy->mask = from.mask;
  copy->facts = facts;
  kept_.push_back(copy);
}

bool Playback::KeepReady(LiveBatches& live) {
  ring_->Pause(false);
  for (uint64_t number = live.WaitForNext(); HasRoom() && IsWhole(number); ++number) {
    Keep(number, live.DescribeBatch(number));
  }
  return HasAny();
}

bool Playback::IsWhole(uint64_t number) const {
  return ring_->Ready(number) && !ring_->slot(number).failure;
}

const std::shared_ptr<const Playback::Kept>& Playback::MadeUp() {
  if (synthetic_) return synthetic_;
  const auto made = std::make_shared<Kept>();
  made->slab = slabs_.Allocate(layout_.slab_bytes);
  auto* const bytes = made->bytes();
  std::fill_n(bytes, layout_.slab_bytes, uint8_t{0});
  for (const ArraySpec& array : *layout_.arrays) {
    FillAtRandom(array, layout_.samples, bytes + array.offset);
  }
  made->ids.resize(layout_.samples);
  made->views.resize(layout_.samples);
  made->mask.resize(layout_.samples, 1);
  synthetic_ = made;
  return synthetic_;
}

}  // namespace recpack
