#include <algorithm>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMuchHeld = 0.3;  // of the time, by threads other than the training thread
constexpr double kBusyThread = 0.3;

bool Trains(const ThreadRates& thread, const TrainerSteps& trainer) {
  return thread.process == trainer.process && static_cast<uint32_t>(thread.thread) == trainer.lane;
}

// Returns the busiest thread of the process other than the training thread, or nullptr.
const ThreadRates* BusiestOther(const SystemRates& system, const TrainerSteps& trainer) {
  const ThreadRates* busiest = nullptr;
  for (const ThreadRates& thread : system.threads) {
    if (thread.process != trainer.process || Trains(thread, trainer)) continue;
    if (busiest == nullptr || thread.cpu_share > busiest->cpu_share) busiest = &thread;
  }
  return busiest;
}

// Share of a core that the training thread used; 0 if it was not seen.
double CpuShare(const SystemRates& system, const TrainerSteps& trainer) {
  const auto found =
      std::find_if(system.threads.begin(), system.threads.end(),
                   [&](const ThreadRates& thread) { return Trains(thread, trainer); });
  return found == system.threads.end() ? 0 : found->cpu_share;
}

}  // namespace

// The training thread holds the lock at most while it runs. Beyond that, others hold it.
bool LockIsTaken(const Evidence& evidence, const TrainerSteps& trainer, Found& found) {
  const auto lock =
      std::find_if(evidence.locks.begin(), evidence.locks.end(),
                   [&](const LockUse& use) { return use.process == trainer.process; });
  if (lock == evidence.locks.end() || !evidence.system) return false;
  const double own = CpuShare(*evidence.system, trainer);
  const ThreadRates* const other = BusiestOther(*evidence.system, trainer);
  if (lock->held - own < kMuchHeld || other == nullptr || other->cpu_share < kBusyThread) {
    return false;
  }
  found.causes.push_back(
      {.bottleneck = Bottleneck::kLock,
       .evidence = {
           format("the interpreter lock was held in {} of the samples; the training thread ran {} "
                  "of the time",
                  Percent(lock->held), Percent(own)),
           format("thread {} ({}) of process {} ran {} of the time", other->thread, other->name,
                  trainer.process, Percent(other->cpu_share))}});
  found.notes.push_back(
      "the rest of a step waits for the lock as well: a perfect input would save only a part of "
      "these waits");
  return true;
}

// Batches that other processes make are late because of their work. What they are not late by, the
// training thread waits for the lock.
void InterpreterLock(const Situation& situation, Found& found) {
  if (situation.work != nullptr) return;
  const TrainerSteps& trainer = situation.trainers[WaitsLongest(situation.trainers)];
  if (!LockIsTaken(situation.evidence, trainer, found)) return;
  const Pipeline& pipeline = situation.pipeline;
  const bool made_elsewhere = !FindWorkers(situation.evidence).empty();
  found.causes.back().saves =
      made_elsewhere ? std::max(0.0, 1 - std::max(pipeline.making, pipeline.own())) : pipeline.wait;
}

}  // namespace recpack::probe
