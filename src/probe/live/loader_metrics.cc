#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "src/base/format.h"
#include "src/probe/evidence/evidence.h"
#include "src/probe/live/metric_families.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr int64_t kEnded = 30'000'000'000;  // ns without a sample

// Returns the last sample of each loader that has not ended.
std::vector<LoaderSample> Last(const std::vector<LoaderSample>& samples, int64_t now) {
  std::map<std::pair<int, uint32_t>, const LoaderSample*> last;
  for (const LoaderSample& sample : samples) {
    last[{sample.process, sample.stats.number}] = &sample;
  }
  std::vector<LoaderSample> all;
  all.reserve(last.size());
  for (const auto& [loader, sample] : last) {
    if (now - sample->time < kEnded) all.push_back(*sample);
  }
  return all;
}

Exposition::Labels ToLabels(const LoaderSample& sample) {
  return {{"process", format("{}", sample.process)}, {"loader", format("{}", sample.stats.number)}};
}

// Adds a family with one sample per loader.
void AddLoaderFamily(const char* name, const char* help, const std::vector<LoaderSample>& loaders,
                     double (*value)(const LoaderStats& stats), Exposition& text) {
  text.Family(name, help);
  for (const LoaderSample& loader : loaders) text.Sample(value(loader.stats), ToLabels(loader));
}

// Adds a family with one sample per loader and stage.
void AddStageFamily(const char* name, const char* help, const std::vector<LoaderSample>& loaders,
                    const std::function<std::optional<double>(const LoaderStats&, Stage)>& value,
                    Exposition& text) {
  text.Family(name, help);
  for (const LoaderSample& loader : loaders) {
    for (size_t i = 0; i < kStages; ++i) {
      const auto stage = static_cast<Stage>(i);
      Exposition::Labels labels = ToLabels(loader);
      labels.emplace_back("stage", StageName(stage));
      text.Sample(value(loader.stats, stage), labels);
    }
  }
}

double SecondsOfAllStages(const LoaderStats& stats) {
  double all = 0;
  for (size_t i = 0; i < kStages; ++i) all += Seconds(stats.Total(static_cast<Stage>(i)).time);
  return all;
}

std::optional<double> StageShare(const LoaderStats& stats, Stage stage) {
  const double all = SecondsOfAllStages(stats);
  if (all <= 0) return {};
  return Seconds(stats.Total(stage).time) / all;
}

std::optional<double> StageBytes(const LoaderStats& stats, Stage stage) {
  const uint64_t bytes = stats.Total(stage).bytes;
  if (bytes == 0) return {};  // most stages do not count bytes
  return static_cast<double>(bytes);
}

// Time in a stage without the visits that are still going on: these may later count for another
// stage, and a counter must not decrease.
std::chrono::nanoseconds FinishedTime(const LoaderStats& stats, Stage stage) {
  std::chrono::nanoseconds time = stats.Total(stage).time;
  for (const WorkerStats& worker : stats.workers) {
    if (worker.now == stage) time -= worker.now_for;
  }
  return time;
}

// Share of the workers' time without waits for a free slot or for input.
double BusyShare(const LoaderStats& stats) {
  return 1 - StageShare(stats, Stage::kRoom).value_or(1) -
         StageShare(stats, Stage::kInput).value_or(0);
}

// Adds what loaders fetched from object stores. Waits are left out: one that lasts may later count
// as another one, and a counter must not decrease.
void AddStores(std::vector<LoaderSample> loaders, Exposition& text) {
  std::erase_if(loaders, [](const LoaderSample& loader) {
    const StoreStats store = loader.stats.TotalStore();
    return store.requests + store.cache_hits == 0;
  });
  AddLoaderFamily(
      "recprobe_loader_store_requests_total", "Requests to object stores that are over.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.TotalStore().requests); },
      text);
  AddLoaderFamily(
      "recprobe_loader_store_bytes_total", "Bytes fetched from object stores.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.TotalStore().bytes); }, text);
  AddLoaderFamily(
      "recprobe_loader_store_throttled_total", "Requests that were answered with 429 or 503.",
      loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.TotalStore().throttled); },
      text);
  AddLoaderFamily(
      "recprobe_loader_store_retried_total", "Requests that were sent again after a failure.",
      loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.TotalStore().retried); },
      text);
  AddLoaderFamily(
      "recprobe_loader_store_cache_hit_bytes_total", "Bytes to read that were in the cache.",
      loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.TotalStore().cache_hits); },
      text);
  AddLoaderFamily(
      "recprobe_loader_store_cache_miss_bytes_total", "Bytes to read that were not in the cache.",
      loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.TotalStore().cache_misses); },
      text);
}

}  // namespace

void AddLoaders(const std::vector<LoaderSample>& samples, int64_t now, Exposition& text) {
  const std::vector<LoaderSample> loaders = Last(samples, now);
  AddLoaderFamily(
      "recprobe_loader_workers", "Worker threads.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.workers.size()); }, text);
  AddLoaderFamily(
      "recprobe_loader_busy_ratio",
      "Share of the workers' time without waits for a free slot, the disk or the network.", loaders,
      BusyShare, text);
  AddLoaderFamily(
      "recprobe_loader_batches_total", "Batches given to the training.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.batches); }, text);
  AddLoaderFamily(
      "recprobe_loader_samples_total", "Samples given to the training.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.samples); }, text);
  AddLoaderFamily(
      "recprobe_loader_wait_seconds_total", "Time in which the training waited for a batch.",
      loaders, [](const LoaderStats& stats) { return Seconds(stats.consumer_wait); }, text);
  AddLoaderFamily(
      "recprobe_loader_ready_batches", "Batches that are ready and not taken yet.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.ready); }, text);
  AddLoaderFamily(
      "recprobe_loader_slots", "Batches that the loader has room for.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.slots); }, text);
  AddStageFamily("recprobe_loader_stage_share_ratio",
                 "Share of the workers' time since the loader began; the stages add up to 1.",
                 loaders, StageShare, text);
  AddStageFamily(
      "recprobe_loader_stage_seconds_total",
      "Time in a stage, summed over workers; added when they leave it.", loaders,
      [](const LoaderStats& stats, Stage stage) { return Seconds(FinishedTime(stats, stage)); },
      text);
  AddStageFamily("recprobe_loader_stage_bytes_total", "Bytes processed by stages that count them.",
                 loaders, StageBytes, text);
  AddStores(loaders, text);
}

}  // namespace recpack::probe
