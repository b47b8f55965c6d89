// What a trainer of the bench of verdicts is made to suffer from, and what it then is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace recpack::bench {

// One at a time. `strength` is the share of step time that waits for what is planted: of kDecode,
// kBurn and kColdCache it follows from the machine.
enum class Cause : uint8_t {
  kNone,
  kStorage,        // reads come at a rate
  kColdCache,      // the shards are dropped from the page cache all the time
  kDecode,         // pictures are decoded
  kFunction,       // a function of samples sleeps
  kBurn,           // and one that computes: alone it is in time, with others on the processors not
  kBatchFunction,  // a function of batches sleeps
  kBackground,     // the loader is waited for in the background, and in time
  kSlowRankInput,  // a function of samples, of one rank
  kSlowRankCompute,  // one rank's device takes longer
  kHiddenWait,       // one rank waits for its input, but all wait for the others' devices
  kHost,             // the training thread computes between the device's work
  kCopies,           // before the device's work, to it
  kLaunch,           // the device waits for the launches of short kernels
  kHang,             // after half of the steps no device ends its work any more
  kStuckInput,       // and no batch comes any more
};

struct Case {
  Cause cause = Cause::kNone;
  double strength = 0;
  std::chrono::duration<double> step{0.012};  // of a device alone
  bool simulated = true;                      // devices sleep; else they compute
  uint32_t ranks = 1;
  int64_t steps = 300;
  uint64_t seed = 0;
  bool perfect_input = false;  // the same without what is planted in its input

  bool Hangs() const { return cause == Cause::kHang || cause == Cause::kStuckInput; }
  // Before it hangs.
  int64_t taken() const { return Hangs() ? steps / 2 : steps; }
  bool OfInput(Cause planted) const { return cause == planted && !perfect_input; }
  // The one that is unlike the others.
  uint32_t odd_rank() const { return static_cast<uint32_t>(seed % ranks); }
  // From one step to the next with the wait that is planted.
  std::chrono::duration<double> slowed() const { return step / (1 - strength); }
};

// Throws Error (kInvalidArgument) for a name that is none.
Cause ParseCause(const std::string& name);

}  // namespace recpack::bench
