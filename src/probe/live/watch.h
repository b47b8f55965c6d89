// Watches training programs from outside and collects the evidence for a verdict.
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
#include "src/probe/evidence/evidence.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/report/timeline.h"
#include "src/probe/steps/steps.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

struct WatchOptions {
  std::vector<int> roots;   // processes to watch, with their descendants
  int adopter = 0;          // its children are watched too (SystemSamplerOptions)
  std::string events = {};  // folder of event files; empty: the programs write none
  std::optional<std::chrono::seconds> free_events_after = {};  // see EventReader
  // Default: a sample does not wait for slow GPUs but takes their previous values.
  GpuSamplerOptions gpus = {.patience = {}};
  size_t most_events = 0;  // kept for Events()
};

// Not thread-safe.
class Watch {
 public:
  explicit Watch(const WatchOptions& options);
  ~Watch();

  // Takes a sample. Call it about ten times per second.
  void Sample();
  // Takes the last sample, after the programs have ended or before the watch ends.
  void LastSample();

  // Evidence from all samples so far, about the longest training if there were several one after
  // the other; system rates cover its time. Without steps, `no_steps` is set only if Python
  // programs lack the hook; otherwise the caller has to set it.
  Evidence Collected() const;
  // Evidence about the latest training, with the latest `most_steps` of each trainer.
  Evidence Latest(size_t most_steps) const;
  // All trainers so far, each with its latest `most_steps`.
  std::vector<TrainerSteps> Trainers(size_t most_steps) const;
  // Timeline of the machine, its devices and loaders.
  Timeline SampledTimeline() const;
  // Values of all GPUs at the last sample; valid until the next one.
  const std::vector<GpuSample>& Gpus() const noexcept;
  // The latest sample of the machine and the watched processes that saw any of these; its time is 0
  // if there was none. Valid until the next sample.
  const SystemSample& LastSystem() const noexcept;
  // The first and the latest events, at most WatchOptions::most_events.
  const KeptEvents& Events() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
