// The places where a training's time can go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace recpack::probe {

// What a training loses most of its time to, or would if it were not for its own work.
enum class Bottleneck : uint8_t {
  kUnknown,
  kStorage,    // the disk or the network
  kPageCache,  // what was read before has left the memory
  kRead,       // reading from memory, CRC
  kDecompress,
  kParse,
  kDecode,
  kAugment,
  kFunction,        // the user's, of samples
  kBatch,           // work on whole batches
  kWrite,           // normalising, casting, copying into the batch
  kPrefetch,        // workers wait for room while the training waits for batches
  kTrainingThread,  // batches are made by the thread that trains
  kInterference,    // others have the processors
  kQuota,           // the container's limit of processor time
  kLock,            // the interpreter lock: other threads of Python have it
  kCopyToDevice,
  kCopyOnDevices,  // within a device, or from one to another
  kTurns,          // devices that wait for each other's results: one works at a time
  kExchange,       // all devices wait for one another
  kSlowRank,       // all wait for one
  kHost,           // neither input nor exchange nor the device: the program itself
  kLaunch,         // the device waits for the launches of short kernels
  kThrottled,      // the device's clock is held back
  kHang,           // no step ends any more
  kModel,          // the device is busy: nothing to gain from input
};
inline constexpr size_t kBottlenecks = static_cast<size_t>(Bottleneck::kModel) + 1;

const char* BottleneckName(Bottleneck bottleneck) noexcept;  // "storage", "decode", ...
Bottleneck BottleneckOf(std::string_view name) noexcept;     // kUnknown: none of this name

}  // namespace recpack::probe
