// Formats the live view of a watched training: recprobe top.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Steps that ended in some time, of all trainers.
struct StepsWithin {
  uint64_t steps = 0;
  double per_second = 0;
  std::optional<double> wait_share;  // of their time, not covered by device work; none: no steps
};

// `from` and `to`: CLOCK_MONOTONIC, ns.
StepsWithin CountSteps(const std::vector<TrainerSteps>& trainers, int64_t from, int64_t to);

// What the view shows at one moment.
struct TopFigures {
  std::string what;       // "rectrain, process 4711"
  double seconds = 0;     // watched so far
  Verdict verdict;        // so far
  StepsWithin now;        // since the previous view
  SystemRates rates;      // since the previous view
  size_t processes = 0;   // of the program
  uint64_t resident = 0;  // bytes, of all its processes
  MemorySample memory;    // of the machine
  std::vector<GpuSample> gpus;
  std::string gpus_unseen;          // why there are none; empty: there is nothing to say
  std::vector<std::string> output;  // latest lines of the program, where the view hides them
};

// A screen of at most `rows` lines of at most `columns` characters, each ended by a line feed. What
// does not fit is cut, the program's output first. Control characters of the program are replaced.
std::string TopText(const TopFigures& figures, size_t rows, size_t columns);

// The same in one line, for files and pipes, ended by a line feed.
std::string TopLine(const TopFigures& figures);

}  // namespace recpack::probe
