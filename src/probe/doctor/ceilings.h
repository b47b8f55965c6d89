// What a machine can do at best, as `recprobe doctor` measured it, kept from one run to the next.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"
#include "src/ceiling/ceiling.h"
#include "src/ceiling/cuda_ceilings.h"
#include "src/ceiling/decode_cost.h"
#include "src/ceiling/scaling.h"

namespace recpack::probe {

// The measurements, by the names that files and screens show.
inline constexpr const char* kReadCold = "read in order, cold";
inline constexpr const char* kReadRandom = "read 4 KiB at random, cold";
inline constexpr const char* kReadCached = "read from memory";
inline constexpr const char* kMemcpy = "memcpy";
inline constexpr const char* kMemset = "memset";
inline constexpr const char* kCrc = "CRC-32C";
inline constexpr const char* kInflate = "inflate";
inline constexpr const char* kJpeg = "JPEG decode";
inline constexpr const char* kDataJpeg = "JPEG decode, the data's";
inline constexpr const char* kPinnedCopy = "pinned copy to the GPU";
inline constexpr const char* kKernelLaunch = "launch";

struct Ceiling {
  std::string name;
  std::string unit;      // "B/s", "pictures/s", ...
  ceiling::Spread one;   // one thread
  ceiling::Spread all;   // `threads` threads together
  int threads = 1;       // as many as cores, but where many calls at a time are what is measured
  std::string how = {};  // what was measured, where the name does not say it
};

// What the data's pictures would be with another shorter side: shares of what they are.
struct ResizeEffect {
  int shorter = 0;  // pixels
  double bytes = 1;
  double seconds = 1;  // of decoding whole ones
};

struct Ceilings {
  int64_t measured_at = 0;  // seconds since 1970
  std::string machine;      // whose they are: host, processor, cores
  std::string storage;      // of what was read
  std::string data;         // whose pictures and shards; empty: none
  int cores = 1;            // that were used
  double load = 0;          // threads of others that ran or could when it began (load average)
  std::vector<Ceiling> rates;
  ceiling::DecodeCost decode;  // one core; of the data's pictures where there are some
  std::vector<ceiling::Slowdown> scaling;
  double store_bytes_per_second = 0;  // of one thread, as Scaling has it
  std::optional<ResizeEffect> resize;

  // Null where it was not measured.
  const Ceiling* Find(std::string_view name) const;
  // Of `threads` threads: between those of one and of all by interpolation; 0: unknown.
  double RateOf(std::string_view name, int threads) const;
  // Whether others took so much of the cores that the figures are too low.
  bool disturbed() const { return load > 0.5 * cores; }
  ceiling::Scaling scale() const { return {scaling, store_bytes_per_second}; }
};

struct MeasureOptions {
  std::vector<std::string> files = {};    // that are read, of the data; none: one made in `folder`
  std::string folder = ".";               // on the storage that is measured
  std::vector<ByteBuffer> pictures = {};  // the data's JPEGs, some of them
  std::string compressed = {};  // the data's shard, if it is compressed; empty: a made-up one
  int cores = 1;
  size_t memory = CeilingOptions::kMemory;                        // as CeilingOptions has it
  std::string cuda = kCudaDriver;                                 // the driver's library
  std::chrono::duration<double> time = std::chrono::seconds(30);  // at most, about
};

// Blocks. Throws nothing for what it finds: what cannot be measured is unavailable. `machine`,
// `storage` and `data` are left to the caller.
Ceilings MeasureCeilings(const MeasureOptions& options);

// Of this process's machine: host, processor, cores that may be used.
std::string MachineKey();

// Kept as JSON, one file a machine and storage, in `folder`; empty: $XDG_CACHE_HOME/recpack, else
// ~/.cache/recpack. Throws Error (kIo) where it cannot be written.
void KeepCeilings(const Ceilings& ceilings, const std::string& folder = "");

// Those of this machine that were kept last; of `storage` only, where one is named. Files that are
// damaged or of another version count as none.
std::optional<Ceilings> KeptCeilings(const std::string& folder = "",
                                     const std::string& storage = "");

}  // namespace recpack::probe
