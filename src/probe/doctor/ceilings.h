// Ceilings: the best rates of this machine, measured by `recprobe doctor` and cached in a file.
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

// Names of the measurements, in files and on screens.
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
  int threads = 1;       // usually the number of cores; more if concurrent calls are measured
  std::string how = {};  // what was measured, if the name does not tell
};

// Effect of resizing the data's pictures to a shorter side, relative to the originals.
struct ResizeEffect {
  int shorter = 0;  // pixels
  double bytes = 1;
  double seconds = 1;  // to decode a whole picture
};

struct Ceilings {
  int64_t measured_at = 0;  // seconds since 1970
  std::string machine;      // MachineKey()
  std::string storage;      // storage that was read
  std::string data;         // data set whose shards and pictures were used; empty: none
  int cores = 1;            // used
  double load = 0;          // load average at the beginning: runnable threads of other programs
  std::vector<Ceiling> rates;
  ceiling::DecodeCost decode;  // on one core; for the data's pictures if there are any
  std::vector<ceiling::Slowdown> scaling;
  double store_bytes_per_second = 0;  // of one thread, see ceiling::Scaling
  std::optional<ResizeEffect> resize;

  // Returns nullptr if it was not measured.
  const Ceiling* Find(std::string_view name) const;
  // Rate of `threads` threads, interpolated between one and all. Returns 0 if it is unknown.
  double Rate(std::string_view name, int threads) const;
  // Tells whether other programs used so many cores that the rates are too low.
  bool disturbed() const { return load > 0.5 * cores; }
  ceiling::Scaling scale() const { return {scaling, store_bytes_per_second}; }
};

struct MeasureOptions {
  std::vector<std::string> files = {};    // to read; empty: a scratch file in `folder`
  std::string folder = ".";               // on the storage to measure
  std::vector<ByteBuffer> pictures = {};  // some of the data's JPEGs
  std::string compressed = {};            // a compressed shard; empty: a synthetic one
  int cores = 1;
  size_t memory = ceiling::CeilingOptions::kMemory;               // as CeilingOptions has it
  std::string cuda = ceiling::kCudaDriver;                        // the driver's library
  std::chrono::duration<double> time = std::chrono::seconds(30);  // at most, about
};

// Blocks while it measures. What cannot be measured is unavailable, with the reason. The caller
// sets `machine`, `storage` and `data`.
Ceilings MeasureCeilings(const MeasureOptions& options);

// Identifies this machine: host, processor model, number of usable cores.
std::string MachineKey();

// Writes the ceilings as JSON, one file per machine and storage, to `folder`. Default:
// $XDG_CACHE_HOME/recpack, else ~/.cache/recpack. Throws Error (kIo) if the file cannot be written.
void KeepCeilings(const Ceilings& ceilings, const std::string& folder = "");

// Reads the latest ceilings of this machine, only those of `storage` unless it is empty. Skips
// files that are damaged or have another version.
std::optional<Ceilings> KeptCeilings(const std::string& folder = "",
                                     const std::string& storage = "");

// For people, with a headline, 100 columns wide.
std::string CeilingsText(const Ceilings& ceilings);

// One JSON object on one line; docs/reference/doctor.md lists its members. What could not be
// measured is {"unavailable": REASON}.
std::string CeilingsJson(const Ceilings& ceilings);

}  // namespace recpack::probe
