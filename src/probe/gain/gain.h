// Measures by experiment what fixing the input of a training would gain. docs/reference/gain.md has
// the method.
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

// Rates are samples per second of all trainers together. Intervals have 95 % confidence.
struct GainResult {
  size_t rounds = 0;  // that all trainers have finished
  size_t trainers = 0;
  uint32_t block_steps = 0;
  uint32_t measured_steps = 0;                   // per block
  std::array<Estimate, GainPlan::kKinds> rates;  // by LoaderMode
  Estimate gain;                                 // of a perfect input: replayed - live
  Estimate ratio;                                // replayed / live
  Estimate starvation;    // part of the gain due to late batches: replayed with pipeline - live
  Estimate interference;  // part due to slower steps: replayed - replayed with pipeline
  Estimate synthetic;     // effect of the content of batches: synthetic - replayed
  std::vector<std::string> notes;

  const Estimate& rate(LoaderMode mode) const { return rates[static_cast<size_t>(mode)]; }
};

// Collects the events of a program that runs with GainPlan::kVariable in its environment. Not
// thread-safe.
class GainBlocks {
 public:
  explicit GainBlocks(uint32_t block_steps);
  ~GainBlocks();

  void Add(const std::vector<TimedEvent>& events);

  // Result of the rounds so far; without rates until the first round has ended.
  GainResult Result() const;
  uint64_t batches() const noexcept;  // seen so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One screen, the gain first.
std::string GainText(const GainResult& result);
// One JSON object on one line; docs/reference/gain.md lists its members.
std::string GainJson(const GainResult& result);

}  // namespace recpack::probe
