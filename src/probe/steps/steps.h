// Finds the steps of a training and accounts for their time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Times are in ns. Waits and work count as far as they lie within the step.
struct StepRecord {
  uint64_t number = 0;  // the program's count
  int64_t begin = 0;
  int64_t end = 0;
  int64_t input_wait = 0;      // of the training thread
  int64_t uncovered_wait = 0;  // part of input_wait in which the device did not compute
  int64_t busy_wait = 0;       // part of input_wait in which the thread itself ran, if reported
  int64_t restart = 0;         // part of input_wait for workers to start, with their first batch
  int64_t exchange = 0;        // waits for other devices, or moving values to and from them
  int64_t copies = 0;  // to the device, while it did not compute and nothing else was waited for
  int64_t device_copies = 0;  // the same within a device or between devices
  int64_t device = 0;         // any device of the trainer computed
  // For a trainer with several devices: the sum of their compute times, and that sum without the
  // device that computed most.
  int64_t all_devices = 0;
  int64_t more_devices = 0;
  // Gaps of less than 1 ms between the work of one device and that of another.
  int64_t hand_overs = 0;
  // Gaps of less than 100 us on the device while nothing was waited for and the host launched
  // kernels one by one.
  int64_t launch_gaps = 0;
  uint32_t kernels = 0;  // that began in the step
  // Since the end of the step before, in no step: evaluations and checkpoints. 0 for the first, and
  // where a step begins with the end of the one before.
  int64_t beside = 0;
  int64_t evaluation_wait =
      0;  // part of `beside`: the training thread waits for an evaluation's input

  int64_t duration() const { return end - begin; }
  bool operator==(const StepRecord&) const = default;
};

// One training thread and its device.
struct TrainerSteps {
  enum class Source : uint8_t {
    kTold,          // reported by the program or the hook in it
    kMarked,        // named ranges that look like steps (NVTX)
    kBetweenWaits,  // from one batch to the next
    kLoader,        // the same by the loader's own statistics: a mean step per sample
  };

  int process = 0;
  uint32_t lane = 0;
  uint16_t device = Event::kNoDevice;
  Source source = Source::kTold;
  bool device_seen = false;       // the device's work was reported: `uncovered_wait` is exact
  bool waits_seen = true;         // waits for input would have been reported
  bool fetched_ahead = false;     // a background thread fetches batches as well
  std::vector<StepRecord> steps;  // sorted by time
  size_t dropped = 0;             // steps of a long training that are not kept, between these
};

// Tells whether two are the same trainer: the same device of a process, whichever thread reports
// it; without a device, the same thread.
template <typename A, typename B>
bool SameTrainer(const A& a, const B& b) {
  return a.process == b.process && a.device == b.device &&
         (a.device != Event::kNoDevice || a.lane == b.lane);
}

// Returns the steps of all training threads, sorted by process, device and time. Waits outside of
// steps (evaluation) do not count. In a process that reports no steps, a step goes from one named
// range to the next of the same name. Candidates are the names (without numbers) of a thread with
// at least 10 ranges that do not overlap; names with "step", "iter" or "batch" win over others, and
// names with "epoch" never count. Of several, the one whose ranges take most time is used. `now`:
// end of waits that are still open.
std::vector<TrainerSteps> FindSteps(const std::vector<TimedEvent>& events, int64_t now);

}  // namespace recpack::probe
