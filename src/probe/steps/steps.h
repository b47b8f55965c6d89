// The steps of a training, and what they waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Times are nanoseconds; those of waits and work are what lies within the step.
struct StepRecord {
  uint64_t number = 0;  // as the program counts it
  int64_t begin = 0;
  int64_t end = 0;
  int64_t input_wait = 0;      // of the training thread
  int64_t uncovered_wait = 0;  // of that, while the device did not compute
  int64_t busy_wait = 0;       // of that, while the thread itself ran, as far as it was told
  int64_t exchange = 0;        // waits for other devices, or moving values to and from them
  int64_t copies = 0;  // to the device, while it did not compute and nothing else was waited for
  int64_t device_copies = 0;  // the same within a device, or from one to another
  int64_t device = 0;         // the device computed; of a trainer with several ones any of them
  // Of a trainer with several devices: the sum of what they computed, and that without the one that
  // computed most.
  int64_t all_devices = 0;
  int64_t more_devices = 0;
  // Of these: none computed for less than 1 ms at a time, after one and before another did.
  int64_t hand_overs = 0;
  // Nothing ran on the device for less than 100 us at a time, nothing was waited for, and the host
  // launched kernels one by one.
  int64_t launch_gaps = 0;
  uint32_t kernels = 0;  // that began

  int64_t duration() const { return end - begin; }
  bool operator==(const StepRecord&) const = default;
};

// One training thread and its device.
struct TrainerSteps {
  enum class Source : uint8_t {
    kTold,          // the program, or the hook in it, told of each step
    kMarked,        // the program named a range that looks like a step (NVTX)
    kBetweenWaits,  // a step is from one batch to the next
    kLoader,        // the same, as the loader's own account has it: a mean one of each sample
  };

  int process = 0;
  uint32_t lane = 0;
  uint16_t device = Event::kNoDevice;
  Source source = Source::kTold;
  bool device_seen = false;       // somebody told of the device's work: `uncovered_wait` is exact
  bool waits_seen = true;         // who told of steps would have told of waits for input as well
  bool fetched_ahead = false;     // a thread in the background fetches batches as well
  std::vector<StepRecord> steps;  // in order of time
};

// Of all training threads, by process, device and time. Waits outside of steps (evaluation) do not
// count. Where a process tells of no steps, they are from one range of a name to the next: that of
// the thread and the name (numbers in it do not count) whose ranges take most of the time, of at
// least 10 that follow each other, of names with "step", "iter" or "batch" in them if there are
// any, and never of "epoch". `now`: where waits end that are still open.
std::vector<TrainerSteps> StepsOf(const std::vector<TimedEvent>& events, int64_t now);

// The same of events that come bit by bit, for as long as a training may run: of events that are
// accounted for nothing is kept. One thread.
class StepCollector {
 public:
  // Events that are kept at least, before they are accounted for.
  explicit StepCollector(size_t most_events = 200'000) : most_events_(most_events) {}

  void Add(std::vector<TimedEvent> events);
  // Each with its latest steps, `most_steps` at most.
  std::vector<TrainerSteps> Trainers(int64_t now, size_t most_steps = SIZE_MAX) const;
  // Events that are kept, as they are not accounted for yet.
  size_t pending() const noexcept { return pending_.size(); }

 private:
  void Settle();
  void ForgetOlder();

  const size_t most_events_;
  size_t settle_at_ = most_events_;
  std::vector<TimedEvent> pending_;
  std::vector<TrainerSteps> settled_;
};

}  // namespace recpack::probe
