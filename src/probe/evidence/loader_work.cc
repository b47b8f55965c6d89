#include "src/probe/evidence/loader_work.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr uint64_t kMostSteps = 100'000;

// Differences are clamped at 0: a statistics page that was read during a write, or time that moved
// from one stage to another, can make a counter fall a little.
StageStats Less(const StageStats& last, const StageStats& first) {
  const auto grown = [](auto late, auto early) {
    return late > early ? late - early : decltype(late - early){};
  };
  return {grown(last.count, first.count), grown(last.bytes, first.bytes),
          grown(last.time, first.time)};
}

PictureStats Less(const PictureStats& last, const PictureStats& first) {
  return {last.pixels - first.pixels, last.made - first.made, last.coded_bytes - first.coded_bytes};
}

LoaderWork Between(const LoaderSample& first, const LoaderSample& last) {
  LoaderWork work{.process = last.process,
                  .number = last.stats.number,
                  .workers = last.stats.workers.size(),
                  .seconds = Seconds(last.time - first.time),
                  .share = {},
                  .slots = last.stats.slots,
                  .stages = {},
                  .pictures = Less(last.stats.TotalPictures(), first.stats.TotalPictures())};
  double all = 0;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    work.stages[i] = Less(last.stats.Total(stage), first.stats.Total(stage));
    work.share[i] = Seconds(work.stages[i].time);
    all += work.share[i];
  }
  for (double& share : work.share) share = all > 0 ? share / all : 0;
  work.epochs = last.stats.epochs;
  const auto batches = static_cast<double>(last.stats.batches - first.stats.batches);
  const double ready = last.stats.mean_ready * static_cast<double>(last.stats.batches) -
                       first.stats.mean_ready * static_cast<double>(first.stats.batches);
  if (batches > 0) work.mean_ready = ready / batches;
  work.samples = static_cast<double>(last.stats.samples - first.stats.samples);
  work.consumer_wait = Seconds(last.stats.consumer_wait - first.stats.consumer_wait);
  if (work.seconds > 0) {
    const StageStats& read = work.stages[static_cast<size_t>(Stage::kRead)];
    work.bytes_per_second = static_cast<double>(read.bytes) / work.seconds;
    work.samples_per_second = work.samples / work.seconds;
  }
  return work;
}

// Share of the workers' time in which they waited for room, between samples, each weighted by the
// time that the consumer waited in it: a cache that ends or a store that stalls makes it wait for
// long, with no room taken, however much of it there was before.
double RoomInWaits(const std::vector<LoaderSample>& samples, const LoaderWork& work) {
  double room = 0, waits = 0;
  const LoaderSample* before = nullptr;
  for (const LoaderSample& sample : samples) {
    if (sample.process != work.process || sample.stats.number != work.number) continue;
    if (before != nullptr && before->stats.batches > 0) {  // not the wait for the first one
      const LoaderWork between = Between(*before, sample);
      const double wait = std::max(0.0, between.consumer_wait);
      room += wait * between.Share(Stage::kRoom);
      waits += wait;
    }
    before = &sample;
  }
  return waits > 0 ? room / waits : work.Share(Stage::kRoom);
}

void AddBetween(const LoaderSample& first, const LoaderSample& last, TrainerSteps& trainer) {
  const auto batches = static_cast<int64_t>(last.stats.batches - first.stats.batches);
  const int64_t wait = (last.stats.consumer_wait - first.stats.consumer_wait).count();
  const int64_t time = last.time - first.time;
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t begin = first.time + time * i / batches;
    const int64_t end = first.time + time * (i + 1) / batches;
    const int64_t waited = std::min(wait / batches, end - begin);
    trainer.steps.push_back({.number = trainer.steps.size(),
                             .begin = begin,
                             .end = end,
                             .input_wait = waited,
                             .uncovered_wait = waited});
  }
}

}  // namespace

Stage LoaderWork::LongestStage() const {
  Stage most = Stage::kInput;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage != Stage::kRoom && Share(stage) > Share(most)) most = stage;
  }
  return most;
}

std::optional<LoaderWork> FindLoaderWork(const std::vector<LoaderSample>& samples) {
  std::map<std::pair<int, uint32_t>, std::pair<const LoaderSample*, const LoaderSample*>> loaders;
  for (const LoaderSample& sample : samples) {
    auto& [first, last] = loaders[{sample.process, sample.stats.number}];
    if (first == nullptr) first = &sample;
    last = &sample;
  }
  const auto batches = [](const auto& ends) {
    return ends.second->stats.batches - ends.first->stats.batches;
  };
  uint64_t most_batches = 0;
  for (const auto& [loader, ends] : loaders) most_batches = std::max(most_batches, batches(ends));
  // A loader with fewer batches serves an occasional evaluation.
  const uint64_t enough = std::max<uint64_t>(most_batches / 2, 1);
  std::optional<LoaderWork> waited_for;
  std::chrono::nanoseconds longest{-1};
  for (const auto& [loader, ends] : loaders) {
    const auto wait = ends.second->stats.consumer_wait - ends.first->stats.consumer_wait;
    if (batches(ends) < enough || wait <= longest) continue;
    longest = wait;
    waited_for = Between(*ends.first, *ends.second);
  }
  if (waited_for) waited_for->room_in_waits = RoomInWaits(samples, *waited_for);
  return waited_for;
}

std::vector<TrainerSteps> MakeLoaderSteps(const std::vector<LoaderSample>& samples) {
  const auto work = FindLoaderWork(samples);
  if (!work) return {};
  // The statistics do not tell whether the consumer is a thread that prefetches for the training.
  TrainerSteps trainer{
      .process = work->process, .source = TrainerSteps::Source::kLoader, .fetched_ahead = true};
  const LoaderSample* before = nullptr;
  for (const LoaderSample& sample : samples) {
    if (sample.process != work->process || sample.stats.number != work->number) continue;
    // A wait that is still going on belongs to the batch that ends it.
    if (before != nullptr && sample.stats.batches == before->stats.batches) continue;
    if (before != nullptr) AddBetween(*before, sample, trainer);
    before = &sample;
    if (trainer.steps.size() > kMostSteps) break;
  }
  if (trainer.steps.empty()) return {};
  return {std::move(trainer)};
}

}  // namespace recpack::probe
