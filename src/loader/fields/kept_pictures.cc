#include "src/loader/fields/kept_pictures.h"

namespace recpack {
namespace {

constexpr int kChannels = 3;

uint64_t PixelBytes(ImageSize size) noexcept {
  return uint64_t{kChannels} * static_cast<uint64_t>(size.width) *
         static_cast<uint64_t>(size.height);
}

}  // namespace

void KeptPictures::Use(SampleCache& cache, CacheCounts& counts) noexcept {
  cache_ = &cache;
  counts_ = &counts;
}

void KeptPictures::Begin(uint32_t view, uint64_t id, ByteView record) noexcept {
  view_ = view;
  id_ = id;
  record_ = record;
}

bool KeptPictures::Has(ByteView bytes, const ImageField& field) const noexcept {
  return cache_ != nullptr && MayKeep(field) && bytes.data() >= record_.data() &&
         bytes.data() + bytes.size() <= record_.data() + record_.size();
}

// An image is identified by the offset of its bytes in the record, independent of its feature's
// name, and by what its pixels depend on. Cached images have no damage to allow.
CacheKey KeptPictures::MakeKey(ByteView bytes, const ImageField& field) const noexcept {
  const ImageDecoding& how = field.decoding;
  const uint64_t decoded = (how.apply_orientation ? 1u : 0u) | (how.fast_dct ? 2u : 0u) |
                           (how.fancy_upsampling ? 4u : 0u);
  const auto offset = static_cast<uint64_t>(bytes.data() - record_.data());
  return {.view = view_, .id = id_, .picture = 1 + offset * 8 + decoded};
}

std::optional<PixelView> KeptPictures::Find(ByteView bytes, const ImageField& field,
                                            ImageSize seen) noexcept {
  if (!Has(bytes, field)) return {};
  const auto pixels = cache_->Find(MakeKey(bytes, field));
  const bool hit = pixels && pixels->size() == PixelBytes(seen);
  counts_->Count(hit);
  if (!hit) return {};
  return PixelView{pixels->data(), seen.width, seen.height, kChannels,
                   static_cast<size_t>(seen.width) * kChannels};
}

bool KeptPictures::Wanted(ByteView bytes, const ImageField& field, ImageSize seen) const noexcept {
  return Has(bytes, field) && cache_->HasRoom(PixelBytes(seen));
}

void KeptPictures::Keep(ByteView bytes, const ImageField& field, const Image& picture) noexcept {
  cache_->Keep(MakeKey(bytes, field), picture.pixels);
}

}  // namespace recpack
