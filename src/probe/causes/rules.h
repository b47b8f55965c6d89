// Rules that find the bottleneck of a training. docs/reference/verdicts.md describes them.
//
// The rules that return bool set bottleneck and evidence of the verdict if they hold, and return
// false otherwise.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Sets bottleneck, rank, evidence and cure from the band, the breakdown and the evidence.
void FindBottleneck(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict);

// The usual cure of a bottleneck; empty if there is nothing to do.
const char* UsualCure(Bottleneck bottleneck) noexcept;

// For a training that waits for input: sets bottleneck and evidence from the work of the loader's
// workers or, without a recpack loader, from what threads and disks do.
void FindInputPlace(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict);

// The threads that make the input in Python spend more time in one kind of work than in any other,
// and are busy most of the time.
bool InputWorkIsSeen(const Evidence& evidence, Verdict& verdict);

// Other threads of the trainer's process hold the interpreter lock much of the time.
bool LockIsTaken(const Evidence& evidence, const TrainerSteps& trainer, Verdict& verdict);

// Other programs, or the container's quota, keep the `threads` threads that want a processor most
// waiting much of the time. `process`: only its threads count; 0 for all processes.
bool ProcessorsAreTaken(const Evidence& evidence, int process, size_t threads, Verdict& verdict);

// For an input whose place is unknown because it is made in native code or elsewhere: adds to
// evidence and cure what the program's other threads did. The bottleneck stays unknown.
void DescribeNativeThreads(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                           Verdict& verdict);

// Tells whether much of the data that the input reads comes from disks. `work`: nullptr without a
// recpack loader.
bool DisksGiveMuch(const Evidence& evidence, const LoaderWork* work);

// For the bottleneck kStorage: adds to the evidence how much was read, and from where. Changes the
// bottleneck to kPageCache if the data that comes from disks was read before. `work`: nullptr
// without a recpack loader.
void DescribeStorage(const Evidence& evidence, const LoaderWork* work, Verdict& verdict);

// The device waits for launches of short kernels. `parts`: breakdown of the trainers' steps.
bool LaunchesAreSlow(const std::vector<TrainerSteps>& trainers, const Breakdown& parts,
                     Verdict& verdict);

// The devices of a trainer compute one at a time: each waits for another's results.
bool DevicesTakeTurns(const std::vector<TrainerSteps>& trainers, Verdict& verdict);

// A GPU's clock is throttled while it works.
bool ClockIsThrottled(const Evidence& evidence, Verdict& verdict);

// No step ends any more, and the last event is a wait for input or GPUs spin.
bool Hangs(const Evidence& evidence, const std::vector<TrainerSteps>& trainers, Verdict& verdict);

// The common rule of thumb "a GPU below 80 % may wait for its input: look at the processors and at
// file I/O", with what contradicts it: a line per GPU, and per busy resource. For information only.
std::vector<std::string> MakeHints(const Evidence& evidence, const Verdict& verdict);

}  // namespace recpack::probe
