// All that a verdict is made from: what somebody outside of the program can see.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recpack/loader/stats.h"
#include "src/probe/evidence/bottleneck.h"
#include "src/probe/gpu/gpu_use.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/steps/period.h"
#include "src/probe/steps/steps.h"

namespace recpack::probe {

// A loader of ours at one time.
struct LoaderSample {
  int64_t time = 0;  // CLOCK_MONOTONIC, ns
  int process = 0;
  LoaderStats stats;
};

// The interpreter lock of a Python process, as a thread finds it that asks for it now and then.
struct LockUse {
  int process = 0;
  double seconds = 0;  // over which it was asked for
  double held = 0;     // share of these times at which another thread had it, for 1 ms and more
};

// Where the input is made in Python, for a library's loader: how many threads were at what, on
// average.
struct InputWork {
  int process = 0;
  double seconds = 0;                    // over which they were looked at
  std::map<Bottleneck, double> threads;  // kUnknown: at what is not known
  double waiting = 0;                    // workers that waited for something to do
};

// A process that trains with others, each a rank, as it says itself.
struct ProcessRank {
  int process = 0;
  uint32_t rank = 0;
  uint32_t size = 0;  // ranks that there are, on other machines too
};

// The last time in which programs that trained told of nothing any more, and ran.
struct Silence {
  int64_t since = 0;      // CLOCK_MONOTONIC, ns: what they told of last
  int64_t until = 0;      // they were seen last
  bool in_input = false;  // the last thing told is a wait for input that has not ended
};

struct Evidence {
  std::vector<TrainerSteps> trainers;
  std::vector<LoaderSample> loaders;   // in order of time
  std::optional<SystemRates> system;   // while the steps ran
  std::vector<GpuUse> gpus;            // that the programs use
  std::vector<LockUse> locks;          // of Python processes that tell of it
  std::vector<InputWork> input_works;  // of Python processes that make input
  std::vector<ProcessRank> ranks;      // of processes that say so
  std::optional<Silence> silence;      // at the end
  std::vector<Period> periods;         // of what devices do, where nobody tells of steps
  // Whether there are devices that work by themselves. Without, a step is the training thread's
  // own.
  bool accelerators = true;
  std::string no_steps;             // why nobody told of steps, where nobody did
  std::vector<std::string> notes;   // what it is not of
  std::vector<std::string> unseen;  // what could not be seen, and why
};

}  // namespace recpack::probe
