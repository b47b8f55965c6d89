#include "src/probe/live/watch.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "recpack/base/event_log.h"
#include "src/base/format.h"
#include "src/probe/causes/decide.h"
#include "src/probe/events/event_folder.h"
#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/event_evidence.h"
#include "src/probe/evidence/silence.h"
#include "src/probe/evidence/unhooked_pythons.h"
#include "src/probe/gpu/accelerators.h"
#include "src/probe/gpu/gpu_collector.h"
#include "src/probe/live/loader_sampler.h"
#include "src/probe/live/timeline_sampler.h"
#include "src/probe/procfs/system_sampler.h"
#include "src/probe/steps/activity.h"
#include "src/probe/steps/step_collector.h"
#include "src/probe/util/intervals.h"
#include "src/probe/util/thinned.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {
namespace {

// Tells whether the file system is full, so that programs cannot write events. Users other than
// root cannot use the reserved blocks.
bool IsFull(const std::string& folder) {
  constexpr uintmax_t kLeast = 4096;
  std::error_code code;
  const std::filesystem::space_info space = std::filesystem::space(folder, code);
  return !code && (::geteuid() == 0 ? space.free : space.available) < kLeast;
}

// One line per reason why events are missing.
std::vector<std::string> Lost(const std::string& folder) {
  std::vector<std::string> lines = ReadLosses(folder);
  if (IsFull(folder)) {
    lines.push_back(
        format("events are incomplete: there is no room left in {}; name a larger folder (--keep, "
               "else TMPDIR)",
               folder));
  }
  return lines;
}

// Returns the index of the sample nearest to `time`.
size_t Nearest(const std::vector<SystemSample>& samples, int64_t time) {
  size_t nearest = 0;
  for (size_t i = 1; i < samples.size(); ++i) {
    const auto distance = [&](size_t at) { return std::abs(samples[at].time_ns - time); };
    if (distance(i) < distance(nearest)) nearest = i;
  }
  return nearest;
}

// Time from the first to the last step of all trainers. Ends before it begins if there are no
// steps.
Interval TimeOfSteps(const std::vector<TrainerSteps>& trainers) {
  Interval time{INT64_MAX, INT64_MIN};
  for (const TrainerSteps& trainer : trainers) {
    if (trainer.steps.empty()) continue;
    time.begin = std::min(time.begin, trainer.steps.front().begin);
    time.end = std::max(time.end, trainer.steps.back().end);
  }
  return time;
}

}  // namespace

struct Watch::State {
  explicit State(const WatchOptions& given)
      : options(given),
        system(given.roots, {.adopter = given.adopter}),
        gpus(given.gpus),
        events(given.events, given.free_events_after),
        unhooked(given.events),
        told(given.most_events) {}

  void SampleSystem() {
    SystemSample sample = system.Sample();
    gpu_samples = gpus.Sample(sample.processes);
    for (const GpuSample& gpu : gpu_samples) timeline.Add(gpu);
    for (const LoaderSample& loader : loaders.Sample(sample.processes)) timeline.Add(loader);
    timeline.Add(sample);
    silence.AddProcesses(sample.processes, sample.time_ns);
    unhooked.Look(sample.processes, sample.time_ns);
    if (!sample.processes.empty()) samples.Add(std::move(sample));
  }

  void Listen(std::vector<TimedEvent> polled) {
    told.Add(polled);
    silence.AddEvents(polled);
    activity.Add(polled);
    steps.Add(std::move(polled));
  }

  // Rates between the samples nearest to the ends of `time`; over all samples if `time` is empty.
  static std::optional<SystemRates> Rates(const std::vector<SystemSample>& all,
                                          const Interval& time) {
    if (all.size() < 2) return {};
    const bool any = time.begin <= time.end;
    const size_t first = any ? std::min(Nearest(all, time.begin), all.size() - 2) : 0;
    const size_t last = any ? std::max(Nearest(all, time.end), first + 1) : all.size() - 1;
    return RatesBetween(all[first], WithEnded(all, first, last));
  }

  void AddUnseen(const std::vector<std::string>& lost, Evidence& evidence) const {
    auto& unseen = evidence.unseen;
    for (const Unseen& each : system.unseen()) unseen.push_back(UnseenText(each));
    for (std::string& line : gpus.Unseen(began)) unseen.push_back(std::move(line));
    if (const std::string why = gpus.WhyNone(); !why.empty() && AnyAccelerator()) {
      unseen.push_back("GPUs could not be seen: " + why);
    }
    if (timeline.left_out()) {
      unseen.emplace_back("timelines of some devices or loaders are missing: there are too many");
    }
    for (const std::string& damage : events.damage()) unseen.push_back(damage);
    for (std::string& notice : ReadNotices(options.events)) unseen.push_back(std::move(notice));
    unseen.insert(unseen.end(), lost.begin(), lost.end());
  }

  Evidence MakeEvidence(Training which, size_t most_steps) const {
    Evidence evidence{.trainers = steps.Trainers(EventLog::Now(), most_steps),
                      .loaders = loaders.All(),
                      .accelerators = AnyAccelerator() || gpus.any()};
    told.AddTo(evidence);
    // If events are missing, silence does not mean that nothing happens.
    const std::vector<std::string> lost =
        options.events.empty() ? std::vector<std::string>() : Lost(options.events);
    if (lost.empty()) evidence.silence = silence.Find(evidence.trainers);
    if (evidence.silence) evidence.standstills = told.Since(evidence.silence->since);
    SelectTraining(which, evidence);
    const Interval time = TimeOfSteps(evidence.trainers);
    evidence.gpus = gpus.Uses(time.begin, time.end);
    const std::vector<SystemSample> all = samples.All();
    evidence.system = Rates(all, time);
    evidence.growths = FindMemoryGrowth(all, evidence.trainers);
    if (evidence.trainers.empty()) {
      evidence.no_steps = unhooked.first();
      evidence.periods = activity.Periods();
      for (Period& period : gpus.Periods()) evidence.periods.push_back(std::move(period));
    }
    AddUnseen(lost, evidence);
    return evidence;
  }

  const WatchOptions options;
  const int64_t began = EventLog::Now();
  SystemSampler system;
  GpuCollector gpus;
  std::vector<GpuSample> gpu_samples;
  EventReader events;
  UnhookedPythons unhooked;
  StepCollector steps;
  SilenceDetector silence;
  Activity activity;
  Thinned<SystemSample> samples;
  LoaderSampler loaders;
  TimelineSampler timeline;
  EventEvidence told;
};

Watch::Watch(const WatchOptions& options) : state_(std::make_unique<State>(options)) {}

Watch::~Watch() = default;

void Watch::Sample() {
  state_->SampleSystem();
  if (!state_->options.events.empty()) state_->Listen(state_->events.Poll());
}

void Watch::LastSample() {
  state_->SampleSystem();
  if (!state_->options.events.empty()) state_->Listen(state_->events.PollAll());
}

Timeline Watch::SampledTimeline() const { return state_->timeline.Collected(); }

const std::vector<GpuSample>& Watch::Gpus() const noexcept { return state_->gpu_samples; }

const SystemSample& Watch::LastSystem() const noexcept { return state_->samples.last(); }

const KeptEvents& Watch::Events() const noexcept { return state_->told.kept(); }

Evidence Watch::Collected() const { return state_->MakeEvidence(Training::kLongest, SIZE_MAX); }

Evidence Watch::Latest(size_t most_steps) const {
  return state_->MakeEvidence(Training::kLatest, most_steps);
}

std::vector<TrainerSteps> Watch::Trainers(size_t most_steps) const {
  return state_->steps.Trainers(EventLog::Now(), most_steps);
}

}  // namespace recpack::probe
