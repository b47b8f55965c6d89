#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "src/base/format.h"
#include "src/probe/live/metric_families.h"

namespace recpack::probe {
namespace {

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

constexpr int64_t kEnded = 30'000'000'000;  // ns that nothing was seen of it

// The last sample of each that lives.
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

Exposition::Labels LabelsOf(const LoaderSample& sample) {
  return {{"process", format("{}", sample.process)}, {"loader", format("{}", sample.stats.number)}};
}

// A family with a sample of each loader.
void OfLoaders(const char* name, const char* help, const std::vector<LoaderSample>& loaders,
               double (*value)(const LoaderStats& stats), Exposition& text) {
  text.Family(name, help);
  for (const LoaderSample& loader : loaders) text.Sample(value(loader.stats), LabelsOf(loader));
}

// A family with a sample of each loader and stage.
void OfStages(const char* name, const char* help, const std::vector<LoaderSample>& loaders,
              const std::function<std::optional<double>(const LoaderStats&, Stage)>& value,
              Exposition& text) {
  text.Family(name, help);
  for (const LoaderSample& loader : loaders) {
    for (size_t i = 0; i < kStages; ++i) {
      const auto stage = static_cast<Stage>(i);
      Exposition::Labels labels = LabelsOf(loader);
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
  if (bytes == 0) return {};  // most stages count none
  return static_cast<double>(bytes);
}

// Without that which goes on: it may turn out to be another stage's, and counters never fall.
std::chrono::nanoseconds TimeOfLeft(const LoaderStats& stats, Stage stage) {
  std::chrono::nanoseconds time = stats.Total(stage).time;
  for (const WorkerStats& worker : stats.workers) {
    if (worker.now == stage) time -= worker.now_for;
  }
  return time;
}

// Neither waiting for room nor for the disk.
double BusyShare(const LoaderStats& stats) {
  return 1 - StageShare(stats, Stage::kRoom).value_or(1) -
         StageShare(stats, Stage::kInput).value_or(0);
}

}  // namespace

void AddLoaders(const std::vector<LoaderSample>& samples, int64_t now, Exposition& text) {
  const std::vector<LoaderSample> loaders = Last(samples, now);
  OfLoaders(
      "recprobe_loader_workers", "Threads that make batches.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.workers.size()); }, text);
  OfLoaders("recprobe_loader_busy_ratio",
            "Of the workers' time, neither waits for room nor for the disk or network.", loaders,
            BusyShare, text);
  OfLoaders(
      "recprobe_loader_batches_total", "Given to the training.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.batches); }, text);
  OfLoaders(
      "recprobe_loader_samples_total", "Given to the training.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.samples); }, text);
  OfLoaders(
      "recprobe_loader_wait_seconds_total", "The training waited for a batch.", loaders,
      [](const LoaderStats& stats) { return Seconds(stats.consumer_wait); }, text);
  OfLoaders(
      "recprobe_loader_ready_batches", "Made and not asked for yet.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.ready); }, text);
  OfLoaders(
      "recprobe_loader_slots", "Batches that there is room for.", loaders,
      [](const LoaderStats& stats) { return static_cast<double>(stats.slots); }, text);
  OfStages("recprobe_loader_stage_share_ratio",
           "Of the workers' time since the loader began; a loader's add up to 1.", loaders,
           StageShare, text);
  OfStages(
      "recprobe_loader_stage_seconds_total", "Summed over workers, when they leave a stage.",
      loaders,
      [](const LoaderStats& stats, Stage stage) { return Seconds(TimeOfLeft(stats, stage)); },
      text);
  OfStages("recprobe_loader_stage_bytes_total", "That went through stages that count them.",
           loaders, StageBytes, text);
}

}  // namespace recpack::probe
