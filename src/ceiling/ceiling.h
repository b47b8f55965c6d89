// What this machine can do at best: the bare calls that a loader's stages cannot outrun.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "recpack/base/bytes.h"

namespace recpack::ceiling {

struct CeilingOptions {
  int threads = 1;  // that do the same side by side; at least 1
  std::chrono::milliseconds time{200};
  static constexpr size_t kMemory = size_t{2} << 30;
  size_t memory = kMemory;  // bytes that all threads together may take, but for 8 MiB of each
};

// Of all threads together. Unmeasured is `unavailable`, with the reason; then the number means
// nothing.
struct Rate {
  double per_second = 0;
  std::string unavailable;

  bool measured() const noexcept { return unavailable.empty(); }
};

// Each measurement takes about options.time (a call that has begun is finished) and blocks. None
// throws for what it finds: what cannot be measured is unavailable.

// Bytes that memcpy copies between buffers that no cache holds.
Rate CopyCeiling(const CeilingOptions& options);

// Bytes that memset stores to memory that no cache holds: whatever it is filled from.
Rate StoreCeiling(const CeilingOptions& options);

// Random numbers made: arithmetic that wants no memory.
Rate ComputeCeiling(const CeilingOptions& options);

// Bytes of CRC-32C over buffers of `bytes` bytes, in the cache.
Rate CrcCeiling(size_t bytes, const CeilingOptions& options);

enum class FileAccess {
  kCached,   // as a reader finds them now, from memory or disk
  kDirect,   // from the disk, past the page cache; unavailable where the file system cannot
  kDropped,  // from the disk, each file dropped from the page cache when it is opened. Of one
             // thread only: others find what one has read. Unavailable where pages stay
};

// Bytes read in order from the files, in large calls, again from the start where all were read.
Rate ReadCeiling(std::span<const std::string> files, FileAccess access,
                 const CeilingOptions& options);

// Calls that read `bytes` bytes (a multiple of 4096) at random multiples of that. Threads are so
// many calls on their way at a time, more than the cores for a disk that serves many at once.
Rate RandomReadCeiling(std::span<const std::string> files, size_t bytes, FileAccess access,
                       const CeilingOptions& options);

// Uncompressed bytes of a compressed shard, in order. Unavailable for one that is not compressed.
Rate InflateCeiling(const std::string& shard, const CeilingOptions& options);

// Whole JPEGs decoded, one after another and from the start again: pictures a second.
Rate JpegCeiling(std::span<const ByteView> pictures, const CeilingOptions& options);

// Of several measurements: the middle one, the least and the most.
struct Spread {
  double value = 0;
  double low = 0;
  double high = 0;
  std::string unavailable = {};  // the reason, where one of them was

  bool measured() const noexcept { return unavailable.empty(); }
};

// Calls `measure` so often, at least once; no more after one that was unavailable.
Spread SpreadOf(int rounds, const std::function<Rate()>& measure);

}  // namespace recpack::ceiling
