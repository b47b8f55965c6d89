// Rules that find what costs a training its time. docs/guide/verdicts.md has them on one page.
//
// A family of causes has one file with one rule. A rule looks at the situation and adds the causes
// that hold, each with what curing it alone would save (Pipeline::Saved() predicts it); what saves
// most is named first, so rules know nothing of each other. To add a family: write its file,
// declare the rule here, and add it to the list in find_bottleneck.cc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/probe/causes/pipeline.h"
#include "src/probe/evidence/evidence.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// What a rule may look at.
struct Situation {
  const Evidence& evidence;
  const std::vector<TrainerSteps>& trainers;  // without their first steps
  const Verdict& verdict;                     // band, shares and breakdown; nothing of causes yet
  const LoaderWork* work;  // of the recpack loader that the training waits for; nullptr without one
  Pipeline pipeline;
};

// What rules add to.
struct Found {
  std::vector<Cause> causes;
  std::vector<std::string> notes;  // caveats
};

using Rule = void (*)(const Situation& situation, Found& found);

// Sets causes, bottleneck, rank, evidence, cure and action from the band, the breakdown and the
// evidence.
void FindBottleneck(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict);

// Sorts causes by what they save. Of those that save about the same, the first is what lies outside
// of the program, then what takes its time, then its settings. Leaves out what is not worth naming.
void RankCauses(std::vector<Cause>& causes);

// The one thing to do first: among the causes that save about as much as the first, the one whose
// cure is least work. `causes`: ranked. Returns nullopt if there is nothing to do.
std::optional<Action> ChooseAction(const std::vector<Cause>& causes);

// The usual cure of a bottleneck; empty if there is nothing to do.
const char* UsualCure(Bottleneck bottleneck) noexcept;

// Rules for a training that waits for its input.
void LoaderStages(const Situation& situation, Found& found);       // stages of a recpack loader
void InputWorkInPython(const Situation& situation, Found& found);  // kinds of work by Python stacks
void TakenProcessors(const Situation& situation, Found& found);    // other programs, quotas
void InterpreterLock(const Situation& situation, Found& found);
void WaitsForDisks(const Situation& situation, Found& found);   // in programs without our loader
void LoaderSettings(const Situation& situation, Found& found);  // of PyTorch's DataLoader
void TrainingThread(const Situation& situation, Found& found);  // makes its batches itself

// The cure of a cause in the words of the program that has it, with its present values. Empty:
// there is nothing to do.
std::string CureInProgram(const Situation& situation, const Cause& cause);

// Rules for any training.
void MovingData(const Situation& situation, Found& found);  // copies, exchange between devices

// For an input whose place is unknown because it is made in native code or elsewhere: adds to
// evidence and cure what the program's other threads did. The bottleneck stays unknown.
void DescribeNativeThreads(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                           Verdict& verdict);

// Tells whether much of the data that the input reads comes from disks. `work`: nullptr without a
// recpack loader.
bool DisksGiveMuch(const Evidence& evidence, const LoaderWork* work);

// For the cause kStorage: adds to its evidence how much was read, and from where. Changes it to
// kPageCache if the data that comes from disks was read before. `work`: nullptr without a recpack
// loader.
void DescribeStorage(const Evidence& evidence, const LoaderWork* work, Cause& cause);

// Other Python threads hold the interpreter lock much of the time.
bool LockIsTaken(const Evidence& evidence, const TrainerSteps& trainer, Found& found);

// Other programs, or the container's quota, keep threads that want a processor waiting much of the
// time. `saves`: by curing it.
bool ProcessorsAreTaken(const Evidence& evidence, const Queueing& queueing, double saves,
                        Found& found);

// The device waits for launches of short kernels. `parts`: breakdown of the trainers' steps.
bool LaunchesAreSlow(const std::vector<TrainerSteps>& trainers, const Breakdown& parts,
                     Found& found);

// The devices of a trainer compute one at a time: each waits for another's results.
bool DevicesTakeTurns(const std::vector<TrainerSteps>& trainers, Found& found);

// A GPU's clock is throttled while it works. `device`: share of step time in which it works.
bool ClockIsThrottled(const Evidence& evidence, double device, Found& found);

// No step ends any more, and the last event is a wait for input, GPUs spin, or all training threads
// stand still.
bool Hangs(const Evidence& evidence, const std::vector<TrainerSteps>& trainers, Found& found);

// Returns the trainer that the others wait for in the exchange, where it stands still; nullopt if
// that is not known.
std::optional<size_t> FindStuck(const Evidence& evidence,
                                const std::vector<TrainerSteps>& trainers);

// The common rule of thumb "a GPU below 80 % may wait for its input: look at the processors and at
// file I/O", with what contradicts it: a line per GPU, and per busy resource. For information only.
std::vector<std::string> MakeHints(const Evidence& evidence, const Verdict& verdict);

}  // namespace recpack::probe
