// Test case of the verdict benchmark: the cause of slowness planted in a trainer, and its
// parameters.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace recpack::bench {

// Case::strength is the share of step time that waits for the cause. For kDecode, kBurn and
// kColdCache it follows from the machine.
enum class Cause : uint8_t {
  kNone,
  kStorage,          // reads are throttled
  kColdCache,        // the shards are dropped from the page cache continuously
  kDecode,           // images are decoded
  kFunction,         // a sample function sleeps
  kBurn,             // a sample function computes: in time, unless other programs take processors
  kBatchFunction,    // a batch function sleeps
  kBatchBurn,        // a batch function computes; only in Case::also
  kBackground,       // the loader is in time, in the background
  kSlowRankInput,    // a sample function of one rank sleeps
  kSlowRankCompute,  // one rank's device takes longer
  kHiddenWait,       // one rank waits for its input, but all wait for the others' devices
  kHost,             // the training thread computes while the device is idle
  kCopies,           // copies to the device before its work
  kLaunch,           // the device waits for the launches of short kernels
  kHang,             // after half of the steps, no device finishes its work
  kStuckInput,       // after half of the steps, no batch arrives
};

// One of several causes, with the time that it takes of each step. In the input (kFunction, kBurn,
// kBatchFunction, kBatchBurn) that is the time in which the workers do a batch's part of it.
struct PlantedPart {
  Cause cause = Cause::kNone;
  std::chrono::duration<double> time{0};
};

struct Case {
  Cause cause = Cause::kNone;
  double strength = 0;
  std::chrono::duration<double> step{0.012};  // of the device alone
  bool simulated = true;                      // devices sleep; otherwise they compute
  uint32_t ranks = 1;
  int64_t steps = 300;
  uint64_t seed = 0;
  bool perfect_input = false;     // without the cause in its input
  std::vector<PlantedPart> also;  // further causes

  std::chrono::duration<double> Also(Cause planted) const {
    std::chrono::duration<double> sum{0};
    for (const PlantedPart& part : also) sum += part.cause == planted ? part.time : part.time * 0;
    return sum;
  }

  bool Hangs() const { return cause == Cause::kHang || cause == Cause::kStuckInput; }
  // Returns the number of steps that are completed, before a hang.
  int64_t taken() const { return Hangs() ? steps / 2 : steps; }
  bool HasInputCause(Cause planted) const { return cause == planted && !perfect_input; }
  // Returns the rank that differs from the others.
  uint32_t odd_rank() const { return static_cast<uint32_t>(seed % ranks); }
  // Returns the step time with the planted wait.
  std::chrono::duration<double> slowed() const { return step / (1 - strength); }
};

// Throws Error (kInvalidArgument) for an unknown name.
Cause ParseCause(const std::string& name);

// Parses "function:8.5,host:3": causes with ms of each step. Throws as ParseCause().
std::vector<PlantedPart> ParseParts(const std::string& text);

}  // namespace recpack::bench
