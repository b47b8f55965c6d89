// What a loader keeps in memory from epoch to epoch.
#pragma once

#include <cstdint>

namespace recpack {

enum class CacheKind : uint8_t {
  kNone,
  // Records as they were read and checked. One that is there is neither read nor checked again.
  kRecords,
  // Encoded pictures, whole, as their field's ImageDecoding has them: one that is there is not
  // decoded again, its record is still read. Not of raw fields, nor of those that are decoded
  // `scaled` or `resize_planes`, nor where a part of the file is damaged: these are made as without
  // a cache. A picture is decoded whole to be kept, even where a part of it would have done.
  kPictures,
};

// A cache changes no batch. It is filled as samples come, and when it is full what is in it stays,
// for in an epoch each record is as likely as any other to come again; the rest is read or decoded
// as without it. One a loader, for all of its threads and epochs.
struct CacheOptions {
  CacheKind what = CacheKind::kNone;
  // Most bytes that it takes in memory, in whole pages, with all that is needed to find what is in
  // it: 32 bytes each, and a table of at most an eighth. Taken as it fills, not at once.
  uint64_t budget_bytes = 0;
};

struct CacheStats {
  uint64_t hits = 0;    // records or pictures that were taken from memory
  uint64_t misses = 0;  // that were read or decoded
  uint64_t kept = 0;    // that are in memory now
  uint64_t bytes = 0;   // that the cache takes now: at most the budget
};

}  // namespace recpack
