// How fast steps are, by what devices are fed with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace recpack::train {

// What devices are fed with.
enum class InputKind : uint8_t {
  kReal,       // by the loader
  kCached,     // some of its batches over and over, from memory
  kSynthetic,  // one batch that stays on the device
};

// Kinds of input take turns, so that a machine that becomes slower does so for all; what counts is
// the median over the rounds.
struct StepTimingOptions {
  std::vector<InputKind> inputs;  // empty: nothing is timed
  int64_t steps = 20;             // of each kind in a round
  int64_t warmup = 8;             // before them: as many batches as the loader makes ahead
  int rounds = 3;
};

// Of one kind of input.
struct StepTiming {
  InputKind input = InputKind::kReal;
  double samples_per_second = 0;  // of all devices
  double step_seconds = 0;
  double input_wait_seconds = 0;     // of a step; mean over devices
  double exchange_wait_seconds = 0;  // of a step; mean over devices
  double exchange_bytes = 0;         // of a step, by all devices
};

// The median of each number by itself; of an even count, the middle of the two.
StepTiming MedianOf(std::span<const StepTiming> turns);

}  // namespace recpack::train
