// Collects what programs' events tell about them: their lines, locks, input work, ranks, settings.
#pragma once

#include <cstddef>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/events/kept_events.h"
#include "src/probe/evidence/code_lines.h"
#include "src/probe/evidence/evidence.h"
#include "src/probe/evidence/families.h"
#include "src/probe/evidence/hook_samples.h"

namespace recpack::probe {

// Steps are a StepCollector's. Not thread-safe.
class EventEvidence {
 public:
  // `most_kept`: events that are kept for a report.
  explicit EventEvidence(size_t most_kept) : kept_(most_kept) {}

  // Removes samples of lines from `events`, which no one else reads.
  void Add(std::vector<TimedEvent>& events);

  // Sets locks, input_works, lines, lines_of, ranks, settings and exchanges.
  void AddTo(Evidence& evidence) const;

  // As LineSamples::Since().
  std::vector<Standstill> Since(int64_t when) const { return lines_.Since(when); }

  const KeptEvents& kept() const noexcept { return kept_; }

 private:
  KeptEvents kept_;
  Families families_;
  LineSamples lines_;
  LockProbes locks_;
  InputSamples input_samples_;
  ReportedRanks ranks_;
  ReportedSettings settings_;
  GradientExchanges exchanges_;
};

}  // namespace recpack::probe
