// Names of the bottlenecks that a verdict can give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace recpack::probe {

// The cause of most of a training's lost time. docs/reference/verdicts.md has the
// rule for each one.
enum class Bottleneck : uint8_t {
  kUnknown,
  kStorage,    // disk or network
  kPageCache,  // data that was read before has been evicted from memory
  // Object stores, read by our loader:
  kStoreLatency,    // waits for the first byte of answers
  kStoreBandwidth,  // waits for the rest of them
  kStoreThrottled,  // the store answers 429 or 503
  kStoreCache,      // data that was read before is not in the cache on a local disk
  kRead,            // reading from memory, CRC
  kDecompress,
  kParse,
  kDecode,
  kAugment,
  kFunction,        // the user's function of samples
  kBatch,           // work on whole batches
  kWrite,           // normalising, casting, copying into the batch
  kPrefetch,        // workers wait for free slots while the training waits for batches
  kWorkers,         // too few loader workers while processors are idle
  kRestarts,        // workers are started again in each epoch
  kPinning,         // one thread copies all batches into pinned memory
  kTrainingThread,  // the training thread makes its batches itself
  kInterference,    // other programs use the processors
  kQuota,           // the container's CPU quota
  kLock,            // other Python threads hold the interpreter lock
  kCopyToDevice,
  kCopyOnDevices,  // copies within a device or between devices
  kTurns,          // devices that depend on each other's results: one works at a time
  kExchange,       // collectives: all devices wait for one another
  kSlowRank,       // all ranks wait for one
  kHost,           // the program itself: neither input, exchange nor device work
  kLaunch,         // the device waits for the launches of short kernels
  kThrottled,      // the device's clock is throttled
  kHang,           // no step ends any more
  kModel,          // the device is busy: faster input gains nothing
};
inline constexpr size_t kBottlenecks = static_cast<size_t>(Bottleneck::kModel) + 1;

const char* BottleneckName(Bottleneck bottleneck) noexcept;  // "storage", "decode", ...
// Returns kUnknown if no bottleneck has this name.
Bottleneck ParseBottleneck(std::string_view name) noexcept;

}  // namespace recpack::probe
