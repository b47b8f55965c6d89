#include "src/probe/find_bottleneck.h"

#include <algorithm>
#include <numeric>

#include "src/base/format.h"
#include "src/probe/combine_steps.h"
#include "src/probe/loader_work.h"

namespace recpack {
namespace {

// Workers that wait for room more than this have batches ready: they are not what is waited for.
constexpr double kMostlyWaiting = 0.5;
// Of the time of threads that could run: from here on somebody else has the processors.
constexpr double kMuchQueueing = 0.15;
constexpr double kMuchOfOthers = 0.2;    // of the processors there are
constexpr double kMuchThrottling = 0.2;  // of the quota's periods
constexpr double kMuchExchange = 0.1;    // of step time
constexpr double kModelBusy = 0.75;      // of step time: nothing else is worth a look
constexpr double kMuchCopying = 0.1;
constexpr double kSlowRank =
    0.5;  // of the others' exchange is spared to the one that is waited for

std::string Percent(double share) { return format("{:.1f} %", 100 * share); }

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

// Threads of the loader's process wait for a processor.
std::string Queueing(const SystemRates& system, int process, double& share) {
  double run = 0, queued = 0;
  for (const ThreadRates& thread : system.threads) {
    if (process != 0 && thread.process != process) continue;
    run += thread.cpu_share;
    queued += thread.run_queue_wait_share.value_or(0);
  }
  share = run + queued > 0 ? queued / (run + queued) : 0;
  return format("threads that could run waited {} of that time for a processor", Percent(share));
}

// Nobody lets the workers work: neither their stages nor the disk are what is wrong.
bool ProcessorsAreTaken(const Evidence& evidence, int process, Verdict& verdict) {
  if (!evidence.system) return false;
  const SystemRates& system = *evidence.system;
  double queued = 0;
  const std::string queueing = Queueing(system, process, queued);
  if (system.throttled_periods_share.value_or(0) > kMuchThrottling && queued > kMuchQueueing) {
    verdict.bottleneck = Bottleneck::kQuota;
    verdict.evidence = {format("the container's processor quota was used up in {} of its periods",
                               Percent(*system.throttled_periods_share)),
                        queueing};
    return true;
  }
  const double others = system.others_cores.value_or(0);
  if (system.allowed_cores == 0 || others < kMuchOfOthers * system.allowed_cores ||
      queued < kMuchQueueing) {
    return false;
  }
  verdict.bottleneck = Bottleneck::kInterference;
  verdict.evidence = {
      format("other programs had {:.1f} of {} processors", others, system.allowed_cores), queueing};
  return true;
}

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
  if (most != Stage::kInput && ProcessorsAreTaken(evidence, work.process, verdict)) return;
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
  if (ProcessorsAreTaken(evidence, 0, verdict)) return;
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

double Mean(const TrainerSteps& trainer, int64_t StepRecord::*what) {
  double sum = 0, all = 0;
  for (const StepRecord& step : trainer.steps) {
    sum += static_cast<double>(step.*what);
    all += static_cast<double>(step.duration());
  }
  return all > 0 ? sum / all : 0;
}

// All wait for the one that waits least for them.
bool OneIsSlow(const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  if (!GoInStep(trainers) || verdict.breakdown.exchange < kMuchExchange) return false;
  std::vector<double> waits;
  for (const TrainerSteps& trainer : trainers) {
    waits.push_back(Mean(trainer, &StepRecord::exchange));
  }
  const auto slowest =
      static_cast<size_t>(std::min_element(waits.begin(), waits.end()) - waits.begin());
  const double others = (std::accumulate(waits.begin(), waits.end(), 0.0) - waits[slowest]) /
                        static_cast<double>(waits.size() - 1);
  if (waits[slowest] > kSlowRank * others) return false;
  verdict.bottleneck = Bottleneck::kSlowRank;
  verdict.rank = slowest;
  const TrainerSteps& slow = trainers[slowest];
  const double input = Mean(slow, &StepRecord::uncovered_wait);
  verdict.evidence = {
      format("trainer {} (process {}) waited {} of its time for the others, these {} for it",
             slowest, slow.process, Percent(waits[slowest]), Percent(others)),
      input > others / 2 ? format("its input took {} of its time", Percent(input))
                         : format("it computed {} of its time, its input took {}",
                                  Percent(Mean(slow, &StepRecord::device)), Percent(input))};
  return true;
}

void NotOfInput(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                Verdict& verdict) {
  if (OneIsSlow(trainers, verdict)) return;
  const Breakdown& parts = verdict.breakdown;
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
    if (ProcessorsAreTaken(evidence, 0, verdict)) return;
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
  } else if (const auto work = WorkOf(evidence.loaders)) {
    InLoader(evidence, *work, verdict);
  } else {
    OutsideOfLoader(evidence, trainers, verdict);
  }
  for (const Cure& cure : kCures) {
    if (cure.bottleneck == verdict.bottleneck) verdict.cure = cure.text;
  }
}

}  // namespace recpack
