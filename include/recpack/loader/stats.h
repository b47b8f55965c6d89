// What a loader says about itself while it runs, to its own process and to others.
// docs/format/stats.md has the layout of the page that it is read from.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace recpack {

// What a worker's time goes to.
enum class Stage : uint8_t {
  kRoom,      // waits for a slab: the consumer is slower
  kInput,     // waits for the disk or the network
  kPlan,      // order, telling the kernel what will be read
  kRead,      // reading and checking the CRC, without kInput
  kParse,     // finding the features
  kDecode,    // JPEG, PNG
  kAugment,   // crop, resize, colour
  kFunction,  // the user's, of a sample
  kBatch,     // what is done to whole batches: mixing, the user's functions
  kWrite,     // normalise, cast, lay out, copy into the slab
};
inline constexpr size_t kStages = 10;

// Whether a worker works in it, and does not wait.
constexpr bool IsWork(Stage stage) noexcept {
  return stage != Stage::kRoom && stage != Stage::kInput;
}

const char* StageName(Stage stage) noexcept;  // "room", "input", "plan", ...

struct StageStats {
  uint64_t count = 0;  // samples; pictures in kDecode and kAugment, waits in kInput, chunks of
                       // samples in kRoom and kPlan, batches in kBatch
  uint64_t bytes = 0;  // payloads in kRead and kParse, encoded in kDecode, arrays in kWrite
  std::chrono::nanoseconds time{0};  // with what the present stage has lasted so far
};

// JPEGs in kDecode.
struct PictureStats {
  uint64_t pixels = 0;       // that they have
  uint64_t made = 0;         // of these, that were made: a crop needs no others
  uint64_t coded_bytes = 0;  // that had to be read for them
};

struct WorkerStats {
  std::array<StageStats, kStages> stages;
  PictureStats pictures;
  Stage now = Stage::kRoom;
  std::chrono::nanoseconds now_for{0};  // since its block was last written: at least in this stage
  uint32_t view = 0;                    // of those that are mixed, of the present or last sample
  uint64_t record = 0;                  // its ordinal in the view's split
};

// What a loader gives.
enum class LoaderMode : uint8_t {
  kLive,           // the batches of the data set
  kReplay,         // copies of the ready batches, again and again; the workers pause
  kReplayAndWork,  // the same, and the workers make batches that are thrown away
  kSynthetic,      // one batch that was made up once; the workers pause
};

const char* LoaderModeName(LoaderMode mode) noexcept;

// Of one loader, since it began. Sums of different workers are not of exactly one instant.
struct LoaderStats {
  uint32_t number = 0;  // among the loaders that its process made, from 0
  std::chrono::nanoseconds age{0};
  std::vector<WorkerStats> workers;

  uint32_t batch_size = 0;
  uint64_t batch_bytes = 0;  // of a slab
  uint32_t slots = 0;        // of the ring
  uint32_t slabs = 0;        // that were made: the ring's, and what replaced held ones
  uint32_t ready = 0;        // batches, now
  uint32_t held = 0;         // by the consumer, now
  double mean_ready = 0;     // batches that were ready when one was asked for

  uint64_t batches = 0;  // given to the consumer, live
  uint64_t samples = 0;
  uint64_t epochs = 0;                        // that ended
  uint64_t waits = 0;                         // batches that were not ready when asked for
  std::chrono::nanoseconds consumer_wait{0};  // with what it is waiting now
  bool consumer_waits = false;                // now

  LoaderMode requested = LoaderMode::kLive;
  LoaderMode mode = LoaderMode::kLive;
  uint64_t replayed = 0;       // batches given in other modes than live
  uint32_t held_back = 0;      // batches that are being repeated
  uint64_t thrown_chunks = 0;  // chunks of samples made and thrown away

  StageStats Total(Stage stage) const noexcept;  // of all workers
  PictureStats TotalPictures() const noexcept;
};

struct StatsReading {
  std::vector<LoaderStats> loaders;
  std::string unavailable;  // why there are none; empty where there are some
};

// Of the live loaders of a process: of the same user, or the caller is privileged. Never an error:
// what cannot be read is unavailable.
StatsReading ReadStats(int pid);

// Asks a loader of a process for a mode, which it takes on when the next batch is asked for and
// leaves after `duration` at the latest; LoaderStats::mode says what it does. In another mode than
// live epochs have no end, and leaving it goes on behind the last live batch. Throws Error:
// kNotFound where there is no such loader, with the reason.
void RequestMode(int pid, uint32_t number, LoaderMode mode, std::chrono::nanoseconds duration);

}  // namespace recpack
