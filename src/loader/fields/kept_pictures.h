// The decoded pictures of the sample at hand that a cache has, or shall have.
#pragma once

#include <optional>

#include "recpack/base/bytes.h"
#include "recpack/image/image.h"
#include "recpack/loader/field.h"
#include "src/loader/batch/sample_cache.h"

namespace recpack {

// Whether pictures of the field may be kept: encoded ones whose pixels do not depend on what
// becomes of them.
inline bool MayKeep(const ImageField& field) noexcept {
  return field.raw_shape[0] == 0 && !field.decoding.scaled && !field.decoding.resize_planes &&
         field.decoding.channels == 3;
}

// One worker's. Without Use() and Begin() it has nothing and keeps nothing.
class KeptPictures {
 public:
  // Both outlive it; `counts` are the worker's.
  void Use(SampleCache& cache, CacheCounts& counts) noexcept;

  // Of this record from now on, whose payload pictures lie in.
  void Begin(uint32_t view, uint64_t id, ByteView record) noexcept;

  // The picture of these bytes, of `seen` pixels in RGB, as the field decodes it: valid as long as
  // the cache. Counts.
  std::optional<PixelView> Find(ByteView bytes, const ImageField& field, ImageSize seen) noexcept;

  // Whether there is a cache for it, with room.
  bool Wanted(ByteView bytes, const ImageField& field, ImageSize seen) const noexcept;

  void Keep(ByteView bytes, const ImageField& field, const Image& picture) noexcept;

 private:
  bool Has(ByteView bytes, const ImageField& field) const noexcept;
  CacheKey KeyOf(ByteView bytes, const ImageField& field) const noexcept;

  SampleCache* cache_ = nullptr;
  CacheCounts* counts_ = nullptr;
  uint32_t view_ = 0;
  uint64_t id_ = 0;
  ByteView record_;
};

}  // namespace recpack
