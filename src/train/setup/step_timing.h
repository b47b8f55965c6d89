// Options and results of step timing, by kind of input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace recpack::train {

// Source of the devices' batches.
enum class InputKind : uint8_t {
  kReal,       // the loader
  kCached,     // a few of the loader's batches, repeated from memory
  kSynthetic,  // one batch that stays on the device
};

// Kinds of input are timed in turn over several rounds, so that a machine that slows down affects
// all equally. The result is the median over rounds.
struct StepTimingOptions {
  std::vector<InputKind> inputs;  // empty: no timing
  int64_t steps = 20;             // per kind of input and round
  // untimed steps before them: as many batches as the loader prefetches
  int64_t warmup = 8;
  int rounds = 3;
};

// Results for one kind of input.
struct StepTiming {
  InputKind input = InputKind::kReal;
  double samples_per_second = 0;  // over all devices
  double step_seconds = 0;
  double input_wait_seconds = 0;     // per step; mean over devices
  double exchange_wait_seconds = 0;  // per step; mean over devices
  double exchange_bytes = 0;         // per step, over all devices
  // Per step, between the devices of a placed model; the time is without waiting.
  double copies = 0, copy_bytes = 0, copy_seconds = 0;
  double epoch_steps = 0;  // steps of an epoch
};

// The median of each number separately; for an even count, the mean of the middle two.
StepTiming MedianTiming(std::span<const StepTiming> turns);

}  // namespace recpack::train
