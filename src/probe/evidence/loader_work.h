// What the workers of a loader did.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

struct LoaderWork {
  int process = 0;
  uint32_t number = 0;
  size_t workers = 0;
  double seconds = 0;
  double samples_per_second = 0;      // given to the consumer
  std::array<double, kStages> share;  // of the workers' time
  double bytes_per_second = 0;        // of payloads, read
  uint64_t epochs = 0;                // that had ended at the end
  double mean_ready = 0;              // batches, when one was asked for
  uint32_t slots = 0;
  double samples = 0;                      // given in that time
  double consumer_wait = 0;                // seconds
  std::array<StageStats, kStages> stages;  // of all workers, in that time
  PictureStats pictures;

  double Share(Stage stage) const { return share[static_cast<size_t>(stage)]; }
  // That the workers' time goes to most, but for waits for room.
  Stage Most() const;
};

// Between its first and its last sample, of the loader whose consumer waited longest, of those that
// gave about as many batches as any; nothing where none was seen twice.
std::optional<LoaderWork> WorkOf(const std::vector<LoaderSample>& samples);

}  // namespace recpack::probe
