// Options and statistics of a loader's in-memory cache.
#pragma once

#include <cstdint>

namespace recpack {

enum class CacheKind : uint8_t {
  kNone,
  // Records, after reading and checking. A cached record is neither read nor checked again.
  kRecords,
  // Decoded images. A cached image is not decoded again; its record is still read. Images are
  // decoded whole, even if a crop would need only a part. Not cached: raw fields, fields with
  // `scaled` or `resize_planes`, and images of damaged files; these are made as without a cache.
  kPictures,
};

// The cache does not change batches. It fills as samples are read and never evicts: within an epoch
// every record is equally likely to come again. When it is full, other samples are read or decoded
// as without a cache. Each loader has one cache, shared by its threads and kept across epochs.
struct CacheOptions {
  CacheKind what = CacheKind::kNone;
  // Upper limit of the cache's memory [bytes], in whole pages, including bookkeeping: 32 bytes per
  // entry, and a table of at most an eighth of the budget. Memory is taken as the cache fills.
  uint64_t budget_bytes = 0;
};

struct CacheStats {
  uint64_t hits = 0;    // records or images found in the cache
  uint64_t misses = 0;  // records or images that had to be read or decoded
  uint64_t kept = 0;    // entries now
  uint64_t bytes = 0;   // memory used now; at most the budget
};

}  // namespace recpack
