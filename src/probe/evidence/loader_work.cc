#include "src/probe/evidence/loader_work.h"

#include <algorithm>
#include <map>
#include <utility>

namespace recpack::probe {
namespace {

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// A page that was read while it was written, or time that a stage lent to another, may lack a
// moment.
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
                  .seconds = static_cast<double>(last.time - first.time) * 1e-9,
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

}  // namespace

Stage LoaderWork::Most() const {
  Stage most = Stage::kInput;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage != Stage::kRoom && Share(stage) > Share(most)) most = stage;
  }
  return most;
}

std::optional<LoaderWork> WorkOf(const std::vector<LoaderSample>& samples) {
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
  // The others are there for an evaluation now and then.
  const uint64_t enough = std::max<uint64_t>(most_batches / 2, 1);
  std::optional<LoaderWork> waited_for;
  std::chrono::nanoseconds longest{-1};
  for (const auto& [loader, ends] : loaders) {
    const auto wait = ends.second->stats.consumer_wait - ends.first->stats.consumer_wait;
    if (batches(ends) < enough || wait <= longest) continue;
    longest = wait;
    waited_for = Between(*ends.first, *ends.second);
  }
  return waited_for;
}

}  // namespace recpack::probe
