#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/causes/slow_rank.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

// Workers that wait for room more than this have batches ready: they are not the bottleneck.
constexpr double kMostlyWaiting = 0.5;
constexpr double kMostlyRunning = 0.5;  // of its waits

Bottleneck StageBottleneck(Stage stage) {
  switch (stage) {
    case Stage::kRoom:
    case Stage::kPlan:
    case Stage::kRead:
      return Bottleneck::kRead;
    case Stage::kInput:
      return Bottleneck::kStorage;
    case Stage::kParse:
      return Bottleneck::kParse;
    case Stage::kDecode:
      return Bottleneck::kDecode;
    case Stage::kAugment:
      return Bottleneck::kAugment;
    case Stage::kFunction:
      return Bottleneck::kFunction;
    case Stage::kBatch:
      return Bottleneck::kBatch;
    case Stage::kWrite:
      return Bottleneck::kWrite;
  }
  return Bottleneck::kUnknown;
}

void InLoader(const Evidence& evidence, const LoaderWork& work, Verdict& verdict) {
  const std::string room = Percent(work.Share(Stage::kRoom));
  if (work.Share(Stage::kRoom) > kMostlyWaiting) {
    verdict.bottleneck = Bottleneck::kPrefetch;
    verdict.evidence = {format("the loader's {} workers waited {} of their time for a free slot",
                               work.workers, room)};
    return;
  }
  const Stage most = work.LongestStage();
  // Stage plan gives the kernel readahead hints, and blocks while the disk's queue is full.
  const bool waits =
      most == Stage::kInput || (most == Stage::kPlan && DisksGiveMuch(evidence, &work));
  if (!waits && ProcessorsAreTaken(evidence, work.process, work.workers, verdict)) return;
  verdict.bottleneck = waits ? Bottleneck::kStorage : StageBottleneck(most);
  verdict.evidence = {format(
      "the loader's {} workers spent {} of their time in stage {}, {} waiting for a free slot",
      work.workers, Percent(work.Share(most)), StageName(most), room)};
  if (waits) DescribeStorage(evidence, &work, verdict);
}

// For programs without a recpack loader.
void OutsideOfLoader(const Evidence& evidence, const TrainerSteps& trainer, Verdict& verdict) {
  if (ProcessorsAreTaken(evidence, 0, 1, verdict)) return;
  if (LockIsTaken(evidence, trainer, verdict) || !evidence.system) return;
  double io = 0, cpu = 0;
  for (const ThreadRates& thread : evidence.system->threads) {
    io += thread.block_io_wait_share.value_or(0);
    cpu += thread.cpu_share;
  }
  const IoPressure pressure = FindIoPressure(*evidence.system);
  if (io > cpu || pressure.share > ShareOfTime(trainer, &StepRecord::uncovered_wait)) {
    verdict.bottleneck = Bottleneck::kStorage;
    verdict.evidence = {
        format("threads waited for the disk {:.2f} s per second, and ran {:.2f} s", io, cpu),
        format("some task {} waited for I/O {} of the time", pressure.of, Percent(pressure.share))};
    return DescribeStorage(evidence, nullptr, verdict);
  }
  if (InputWorkIsSeen(evidence, verdict)) return;
  // A training thread that is busy during its input waits makes the batches itself.
  double waits = 0, busy = 0;
  for (const StepRecord& step : trainer.steps) {
    waits += static_cast<double>(step.input_wait);
    busy += static_cast<double>(step.busy_wait);
  }
  if (busy > kMostlyRunning * waits) {
    verdict.bottleneck = Bottleneck::kTrainingThread;
    verdict.evidence = {format("the training thread itself was busy {} of its waits for input",
                               Percent(busy / waits))};
  }
}

}  // namespace

void FindInputPlace(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  if (const auto work = FindLoaderWork(evidence.loaders)) {
    InLoader(evidence, *work, verdict);
  } else {
    OutsideOfLoader(evidence, trainers[WaitsLongest(trainers)], verdict);
    if (verdict.bottleneck == Bottleneck::kUnknown) {
      DescribeNativeThreads(evidence, trainers, verdict);
    }
  }
}

}  // namespace recpack::probe
