// Summary of a loader's own statistics between samples: work of its workers, and steps.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// One loader between its first and its last sample.
struct LoaderWork {
  int process = 0;
  uint32_t number = 0;  // of the loader in its process
  size_t workers = 0;
  double seconds = 0;
  double samples_per_second = 0;      // given to the consumer
  std::array<double, kStages> share;  // of the workers' time, by stage
  double bytes_per_second = 0;        // payload read
  uint64_t epochs = 0;                // finished by the last sample
  double mean_ready = 0;              // batches ready when the consumer asked for one
  uint32_t slots = 0;
  double samples = 0;        // given to the consumer
  double consumer_wait = 0;  // seconds
  double room_in_waits = 0;  // share of the workers' time in kRoom while the consumer waited
  std::array<StageStats, kStages> stages;  // sums over all workers
  PictureStats pictures;

  double Share(Stage stage) const { return share[static_cast<size_t>(stage)]; }
  // The stage that takes most of the workers' time; waits for room do not count.
  Stage LongestStage() const;
};

// Returns the work of the loader whose consumer waited longest, among those that gave at least half
// as many batches as the busiest one. Returns nullopt if no loader was sampled twice.
std::optional<LoaderWork> FindLoaderWork(const std::vector<LoaderSample>& samples);

// Steps of a program that reports none, from the statistics of the loader that FindLoaderWork()
// picks: a step is a batch. Batches and waits are spread evenly between two samples. Returns an
// empty vector if there are too few samples.
std::vector<TrainerSteps> MakeLoaderSteps(const std::vector<LoaderSample>& samples);

}  // namespace recpack::probe
