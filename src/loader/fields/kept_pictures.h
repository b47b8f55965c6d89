// Access to the cache of decoded images for the current sample.
#pragma once

#include <optional>

#include "recpack/base/bytes.h"
#include "recpack/image/image.h"
#include "recpack/loader/field.h"
#include "src/loader/batch/sample_cache.h"

namespace recpack {

// Returns true if images of the field may be cached: encoded ones whose pixels do not depend on
// later steps.
inline bool MayKeep(const ImageField& field) noexcept {
  return field.raw_shape[0] == 0 && !field.decoding.scaled && !field.decoding.resize_planes &&
         field.decoding.channels == 3;
}

// Used by one worker. Empty, and keeps nothing, before Use() and Begin().
class KeptPictures {
 public:
  // Both must outlive it; `counts` are the worker's.
  void Use(SampleCache& cache, CacheCounts& counts) noexcept;

  // Sets the current record; `record` is its payload, which contains the images.
  void Begin(uint32_t view, uint64_t id, ByteView record) noexcept;

  // Returns the image of these bytes, with `seen` pixels in RGB, as the field decodes it. Valid for
  // the lifetime of the cache. Counts a hit or a miss.
  std::optional<PixelView> Find(ByteView bytes, const ImageField& field, ImageSize seen) noexcept;

  // Returns true if there is a cache for the image, with room.
  bool Wanted(ByteView bytes, const ImageField& field, ImageSize seen) const noexcept;

  void Keep(ByteView bytes, const ImageField& field, const Image& picture) noexcept;

 private:
  bool Has(ByteView bytes, const ImageField& field) const noexcept;
  CacheKey MakeKey(ByteView bytes, const ImageField& field) const noexcept;

  SampleCache* cache_ = nullptr;
  CacheCounts* counts_ = nullptr;
  uint32_t view_ = 0;
  uint64_t id_ = 0;
  ByteView record_;
};

}  // namespace recpack
