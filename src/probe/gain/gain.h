// What fixing the input of a training would gain, by experiment. docs/gain.md has the method.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/gain.h"
#include "recpack/loader/stats.h"
#include "src/probe/events/event_reader.h"
#include "src/probe/util/estimate.h"

namespace recpack::probe {

// Rates are samples a second of all trainers together; differences come with the interval that
// holds the true one in 95 of 100 cases.
struct GainResult {
  size_t rounds = 0;  // that all trainers have finished
  size_t trainers = 0;
  uint32_t block_steps = 0;
  uint32_t measured_steps = 0;                   // of a block
  std::array<Estimate, GainPlan::kKinds> rates;  // by LoaderMode
  Estimate gain;                                 // of a perfect input: replayed over live
  Estimate ratio;                                // the same as a ratio
  Estimate starvation;    // of that, batches that come late: replayed and working over live
  Estimate interference;  // and what the pipeline takes from the step: replayed over that
  Estimate synthetic;     // synthetic over replayed: what depends on what is in the batches
  std::vector<std::string> notes;

  const Estimate& rate(LoaderMode mode) const { return rates[static_cast<size_t>(mode)]; }
};

// Makes it of what a program tells while it runs with GainPlan::kVariable in its environment. One
// thread.
class GainBlocks {
 public:
  explicit GainBlocks(uint32_t block_steps);
  ~GainBlocks();

  void Add(const std::vector<TimedEvent>& events);

  // Of the rounds so far; without rates before the first one has ended.
  GainResult Result() const;
  uint64_t batches() const noexcept;  // that were told of

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One screen, the gain first.
std::string GainText(const GainResult& result);
// One JSON object on one line; docs/gain.md has its members.
std::string GainJson(const GainResult& result);

}  // namespace recpack::probe
