// Performance ceilings of this machine: rates of the bare operations that limit a loader's stages.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "recpack/base/bytes.h"

namespace recpack::ceiling {

struct CeilingOptions {
  int threads = 1;  // threads that do the same work in parallel; at least 1
  std::chrono::milliseconds time{200};
  static constexpr size_t kMemory = size_t{2} << 30;
  size_t memory = kMemory;  // limit in bytes for all threads, which may add 8 MiB each
};

// Total rate of all threads. If it could not be measured, `unavailable` has the reason and the
// number is meaningless.
struct Rate {
  double per_second = 0;
  std::string unavailable;

  bool measured() const noexcept { return unavailable.empty(); }
};

// Each measurement blocks for about options.time (a call in progress is finished). None throws:
// rates that cannot be measured are unavailable.

// Bytes copied by memcpy between buffers larger than the caches.
Rate CopyCeiling(const CeilingOptions& options);

// Bytes stored by memset to memory larger than the caches.
Rate StoreCeiling(const CeilingOptions& options);

// Random numbers generated: arithmetic without memory access.
Rate ComputeCeiling(const CeilingOptions& options);

// Bytes of CRC-32C over cached buffers of `bytes` bytes.
Rate CrcCeiling(size_t bytes, const CeilingOptions& options);

enum class FileAccess {
  kCached,   // through the page cache, in its current state
  kDirect,   // from the disk, bypassing the page cache; unavailable without O_DIRECT
  kDropped,  // from the disk, dropping each file from the page cache when it is opened. For one
             // thread only, since others find what one has read. Unavailable if pages stay cached
};

// Bytes read sequentially from the files, in large calls, starting again after the last file.
Rate ReadCeiling(std::span<const std::string> files, FileAccess access,
                 const CeilingOptions& options);

// Reads of `bytes` bytes (a multiple of 4096) at random multiples of that. The number of threads is
// the queue depth: use more threads than cores for a disk that serves many requests at once.
Rate RandomReadCeiling(std::span<const std::string> files, size_t bytes, FileAccess access,
                       const CeilingOptions& options);

// Uncompressed bytes read from a compressed shard. Unavailable if it is not compressed.
Rate InflateCeiling(const std::string& shard, const CeilingOptions& options);

// Whole JPEGs decoded, starting again after the last one.
Rate JpegCeiling(std::span<const ByteView> pictures, const CeilingOptions& options);

// Median, minimum and maximum of several measurements.
struct Spread {
  double value = 0;
  double low = 0;
  double high = 0;
  std::string unavailable = {};  // the reason, if one of them was unavailable

  bool measured() const noexcept { return unavailable.empty(); }
};

// Calls `measure` `rounds` times, at least once; stops after an unavailable one.
Spread MeasureSpread(int rounds, const std::function<Rate()>& measure);

}  // namespace recpack::ceiling
