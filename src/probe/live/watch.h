// Watches a program from outside while it trains.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/events/kept_events.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/report/timeline.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

struct WatchOptions {
  std::vector<int> roots;   // processes; their descendants are watched with them
  int adopter = 0;          // whose children belong to them as well (SystemSamplerOptions)
  std::string events = {};  // folder of event files; empty: the programs tell nothing of themselves
  std::optional<std::chrono::seconds> free_events_after = {};  // as EventReader has it
  // A sample does not wait for GPUs that are slow to answer: it takes what they gave last.
  GpuSamplerOptions gpus = {.patience = {}};
  size_t most_events = 0;  // of those kept for Events()
};

// One thread.
class Watch {
 public:
  explicit Watch(const WatchOptions& options);
  ~Watch();

  // What is to be seen now. To be called about ten times a second.
  void Sample();
  // The same once more, when all has ended, or is no more to be watched.
  void LastSample();

  // Of all samples so far: of the training that took longest, where there were several one after
  // the other, and of the system what was while it ran. Why there are no steps, where there are
  // none, is for the caller to say, but for Pythons below the command that the hook is not in.
  Evidence Collected() const;
  // The same of the training that goes on: of each trainer its latest `most_steps`.
  Evidence Latest(size_t most_steps) const;
  // All trainers that there were, each with its latest `most_steps`.
  std::vector<TrainerSteps> Trainers(size_t most_steps) const;
  // The machine, its devices and loaders over that time.
  Timeline SampledTimeline() const;
  // What all GPUs gave at the last sample; until the next one.
  const std::vector<GpuSample>& Gpus() const noexcept;
  // Of the programs, as many as were to be kept.
  const KeptEvents& Events() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
