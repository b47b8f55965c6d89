#include "src/probe/find_bottleneck.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/probe/combine_steps.h"
#include "src/probe/loader_work.h"
#include "src/probe/percent.h"
#include "src/probe/slow_rank.h"
#include "src/probe/taken_processors.h"

namespace recpack {
namespace {

// Workers that wait for room more than this have batches ready: they are not what is waited for.
constexpr double kMostlyWaiting = 0.5;
constexpr double kMuchExchange = 0.1;  // of step time
constexpr double kModelBusy = 0.75;    // of step time: nothing else is worth a look
constexpr double kMuchCopying = 0.1;

struct Cure {
  Bottleneck bottleneck;
  const char* text;
};

constexpr Cure kCures[] = {
    {Bottleneck::kStorage,
     "read from faster storage, pack into shards, or keep the records in memory (--cache)"},
    {Bottleneck::kRead,
     "more loader threads; pack without compression where the disk is fast enough"},
    {Bottleneck::kParse, "more loader threads; pack fewer features into a record"},
    {Bottleneck::kDecode,
     "more loader threads; pack with --resize or --jpeg tile; keep pictures in memory (--cache)"},
    {Bottleneck::kAugment, "more loader threads, or fewer augmentations"},
    {Bottleneck::kFunction, "make the function of samples faster, or give the loader more threads"},
    {Bottleneck::kBatch, "make the work on whole batches faster, or give the loader more threads"},
    {Bottleneck::kWrite,
     "let the device normalise and cast (u8 crosses the bus), or more loader threads"},
    {Bottleneck::kPrefetch, "raise the loader's prefetch: its batches come in bursts"},
    {Bottleneck::kTrainingThread,
     "fetch batches in the background: DataLoader(num_workers=...), prefetch(), or our loader"},
    {Bottleneck::kInterference, "keep other programs off these processors, or use fewer threads"},
    {Bottleneck::kQuota,
     "raise the container's processor limit, or use as many threads as it allows"},
    {Bottleneck::kCopyToDevice,
     "pin the memory and copy ahead of the step, on a stream of its own"},
    {Bottleneck::kSlowRank, "look at that rank"},
    {Bottleneck::kExchange, "larger batches, fewer exchanges, or a faster way between the devices"},
};

Bottleneck BottleneckOf(Stage stage) {
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
  if (work.Share(Stage::kRoom) > kMostlyWaiting) {
    verdict.bottleneck = Bottleneck::kPrefetch;
    verdict.evidence = {format("the loader's {} workers waited {} of their time for room",
                               work.workers, Percent(work.Share(Stage::kRoom)))};
    return;
  }
  const Stage most = work.Most();
  if (most != Stage::kInput && ProcessorsAreTaken(evidence, work.process, work.workers, verdict))
    return;
  verdict.bottleneck = BottleneckOf(most);
  verdict.evidence = {format(
      "the loader's {} workers spent {} of their time in stage {}, {} waiting for room",
      work.workers, Percent(work.Share(most)), StageName(most), Percent(work.Share(Stage::kRoom)))};
  if (most != Stage::kInput || !evidence.system) return;
  for (const DeviceRates& device : evidence.system->devices) {
    if (device.read_bytes_per_second < 1e6) continue;
    verdict.evidence.push_back(format("{} gave {:.1f} MB/s, busy {} of the time", device.name,
                                      device.read_bytes_per_second * 1e-6,
                                      Percent(device.busy_share)));
  }
}

// Of programs whose input is not ours.
void OutsideOfLoader(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                     Verdict& verdict) {
  const int process = trainers.front().process;
  if (ProcessorsAreTaken(evidence, 0, 1, verdict)) return;
  if (!evidence.system) return;
  double io = 0, cpu = 0, trainer_cpu = 0;
  for (const ThreadRates& thread : evidence.system->threads) {
    io += thread.block_io_wait_share.value_or(0);
    cpu += thread.cpu_share;
    const bool trains =
        thread.process == process && static_cast<uint32_t>(thread.thread) == trainers.front().lane;
    if (trains) trainer_cpu = thread.cpu_share;
  }
  const double pressure = evidence.system->pressure.io.some.value_or(0);
  if (io > cpu || pressure > verdict.breakdown.input_wait) {
    verdict.bottleneck = Bottleneck::kStorage;
    verdict.evidence = {
        format("threads waited for the disk {:.2f} of each second, and ran {:.2f}", io, cpu),
        format("some task was held up by I/O {} of the time", Percent(pressure))};
    return;
  }
  // The thread that trains is busy while it waits: it makes the batches itself.
  if (!trainers.front().fetched_ahead && trainer_cpu > verdict.breakdown.device + kMuchCopying) {
    verdict.bottleneck = Bottleneck::kTrainingThread;
    verdict.evidence = {format("the training thread ran {} of the time, waits for input included",
                               Percent(trainer_cpu))};
  }
}

std::string Waited(const std::vector<TrainerSteps>& trainers, const SlowRank& slow) {
  return format("trainer {} (process {}) waited {} of its time for the others, these {} for it",
                slow.rank, trainers[slow.rank].process, Percent(slow.own), Percent(slow.others));
}

// All wait for the one that waits least for them.
bool OneIsSlow(const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  const auto slow = SlowestOf(trainers);
  if (!slow || !slow->much) return false;
  verdict.bottleneck = Bottleneck::kSlowRank;
  verdict.rank = slow->rank;
  const TrainerSteps& trainer = trainers[slow->rank];
  verdict.evidence = {Waited(trainers, *slow),
                      format("it computed {} of its time, its input took {}",
                             Percent(ShareOfTime(trainer, &StepRecord::device)),
                             Percent(ShareOfTime(trainer, &StepRecord::uncovered_wait)))};
  return true;
}

// Its input is what all wait for.
void NameRank(const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  const auto slow = SlowestOf(trainers);
  if (!slow || !slow->much) return;
  verdict.rank = slow->rank;
  verdict.evidence.push_back(Waited(trainers, *slow));
}

// Of the trainer that the others wait for: what these wait for is none of its parts.
Breakdown PartsOf(const std::vector<TrainerSteps>& trainers, const Verdict& verdict) {
  const auto slow = SlowestOf(trainers);
  return slow ? BreakdownOf({trainers[slow->rank]}) : verdict.breakdown;
}

void NotOfInput(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                Verdict& verdict) {
  if (OneIsSlow(trainers, verdict)) return;
  const Breakdown parts = PartsOf(trainers, verdict);
  const auto all = [&](const char* what, double share) {
    verdict.evidence = {format("{} of step time {}", Percent(share), what)};
  };
  if (parts.copies > kMuchCopying) {
    verdict.bottleneck = Bottleneck::kCopyToDevice;
    return all("goes to copies to the device while it does nothing", parts.copies);
  }
  if (parts.exchange > kMuchExchange && parts.exchange > parts.other) {
    verdict.bottleneck = Bottleneck::kExchange;
    return all("goes to the exchange between devices", parts.exchange);
  }
  if (parts.device > kModelBusy) {
    if (ProcessorsAreTaken(evidence, 0, 1, verdict)) return;
    verdict.bottleneck = Bottleneck::kModel;
    return all("is the device's own work", parts.device);
  }
  if (verdict.upper_bound) return;  // what the device did is not known
  verdict.bottleneck = Bottleneck::kHost;
  all("is neither input nor exchange nor the device's work", parts.other);
}

}  // namespace

void FindBottleneck(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  const bool input = verdict.band == Band::kModerately || verdict.band == Band::kHighly ||
                     (verdict.band == Band::kUndecided && verdict.input_share.low > 0.02);
  if (!input) {
    NotOfInput(evidence, trainers, verdict);
  } else {
    if (const auto work = WorkOf(evidence.loaders)) {
      InLoader(evidence, *work, verdict);
    } else {
      OutsideOfLoader(evidence, trainers, verdict);
    }
    NameRank(trainers, verdict);
  }
  for (const Cure& cure : kCures) {
    if (cure.bottleneck == verdict.bottleneck) verdict.cure = cure.text;
  }
}

}  // namespace recpack
