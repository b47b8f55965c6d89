// Input of a verdict: everything that was observed of a training program from outside.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recpack/loader/stats.h"
#include "src/probe/evidence/bottleneck.h"
#include "src/probe/evidence/code_lines.h"
#include "src/probe/evidence/memory_growth.h"
#include "src/probe/gpu/gpu_use.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/steps/period.h"
#include "src/probe/steps/steps.h"

namespace recpack::probe {

// Statistics of a recpack loader at one time.
struct LoaderSample {
  int64_t time = 0;  // CLOCK_MONOTONIC, ns
  int process = 0;
  LoaderStats stats;
};

// Use of the interpreter lock of a Python process, sampled by a thread that requests it at times.
struct LockUse {
  int process = 0;
  double seconds = 0;  // sampled
  double held = 0;     // share of samples in which another thread held it for at least 1 ms
};

// Work of the threads that make the input in Python (not a recpack loader): the average number of
// threads by kind of work.
struct InputWork {
  int process = 0;
  int trainer = 0;                       // the process that it works for; 0: not known
  double seconds = 0;                    // sampled
  std::map<Bottleneck, double> threads;  // kUnknown: unidentified work
  double waiting = 0;                    // idle workers
  // The same of the training thread, in a DataLoader without workers: shares of its time.
  std::map<Bottleneck, double> own;
};

// Rank of a process in a distributed training, as the process reports it.
struct ProcessRank {
  int process = 0;
  uint32_t rank = 0;
  uint32_t size = 0;  // world size, other machines included
};

// Steps of a rank as DistributedDataParallel measures some of them. Mean times, in ns.
struct GradientExchange {
  int process = 0;
  size_t steps = 0;   // measured
  double wait = 0;    // for the others' gradients, after its own backward pass
  double passes = 0;  // its own forward and backward pass
  // The waits one by one, the first kMostWaits of them, and when they were told (CLOCK_MONOTONIC).
  struct Wait {
    int64_t told;
    int64_t length;
  };
  static constexpr size_t kMostWaits = 4096;
  std::vector<Wait> waits{};
};

// What the program makes its batches with, as the hook in it reports.
enum class InputLibrary : uint8_t { kUnknown, kPyTorch, kTfData, kGrain, kLightning, kHuggingFace };

// Settings of the input of a training process. The last two libraries configure PyTorch's
// DataLoader in their own words.
struct InputSettings {
  int process = 0;
  InputLibrary library = InputLibrary::kUnknown;
  // Settings of a DataLoader.
  uint32_t workers = 0;
  bool workers_known = true;  // false: there are some, and a trace does not say how many
  uint32_t prefetch = 0;      // batches ahead, of each worker
  bool persistent = false;
  bool pinned = false;
  std::string place;  // FILE:LINE where the program makes it, or calls Dataset.map; may be empty
  uint32_t made = 1;  // at least so many were made there and used for training
  uint32_t maps = 0;  // calls of Dataset.map of tf.data, by whomever

  bool loads() const { return library != InputLibrary::kTfData && library != InputLibrary::kGrain; }
  // A DataLoader that makes its batches on the training thread.
  bool has_no_workers() const { return loads() && workers == 0 && workers_known; }
};

// Interval at the end in which the training programs still ran but wrote no events.
struct Silence {
  int64_t since = 0;      // time of the last event: CLOCK_MONOTONIC, ns
  int64_t until = 0;      // time at which they were last seen running
  bool in_input = false;  // the last event is a wait for input that has not ended
};

struct Evidence {
  std::vector<TrainerSteps> trainers;
  std::vector<LoaderSample> loaders;   // in order of time
  std::optional<SystemRates> system;   // while the steps ran
  std::vector<GpuUse> gpus;            // used by the programs
  std::vector<LockUse> locks;          // per Python process with the hook
  std::vector<InputWork> input_works;  // per Python process that makes input
  std::vector<CodeLine> lines;         // of the program's code, where its threads spent their time
  // The same of each trainer and its workers. Only where several trainers were sampled.
  std::map<int, std::vector<CodeLine>> lines_of;
  std::vector<ProcessRank> ranks;           // per process that reports one
  std::vector<InputSettings> settings;      // per process that reports them
  std::vector<GradientExchange> exchanges;  // per process that reports them
  std::optional<Silence> silence;           // at the end
  std::vector<Standstill> standstills;      // in that time, of Python programs with the hook
  std::vector<Period> periods;              // of device activity; only if no steps were reported
  std::vector<MemoryGrowth> growths;        // of training processes
  // Whether the machine has accelerators. Without any, the training thread computes the step
  // itself.
  bool accelerators = true;
  std::string no_steps;             // why no steps were reported; empty if some were
  std::vector<std::string> notes;   // what was left out, for instance earlier trainings
  std::vector<std::string> unseen;  // what could not be observed, and why
};

// Returns nullptr if the process reports none.
inline const InputSettings* FindSettings(const Evidence& evidence, int process) {
  for (const InputSettings& settings : evidence.settings) {
    if (settings.process == process) return &settings;
  }
  return nullptr;
}

}  // namespace recpack::probe
