// Statistics of running loaders, for the loader's own process and for others. The page that they
// are read from is described in docs/format/stats.md.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace recpack {

// Name of the threads that make batches, as the system shows it.
inline constexpr const char* kLoaderThreadName = "recpack-loader";

// Stages that a worker's time is attributed to.
enum class Stage : uint8_t {
  kRoom,      // waiting for a slab: the consumer is slower
  kInput,     // waiting for the disk or the network
  kPlan,      // computing the order, announcing reads to the kernel
  kRead,      // reading and checking CRCs, without kInput
  kParse,     // finding the features
  kDecode,    // JPEG, PNG
  kAugment,   // crop, resize, colour
  kFunction,  // user functions on samples
  kBatch,     // operations on whole batches: mixing, user functions
  kWrite,     // normalising, casting, laying out, copying into the slab
};
inline constexpr size_t kStages = 10;

// Returns true if a worker works in this stage, false if it waits.
constexpr bool IsWork(Stage stage) noexcept {
  return stage != Stage::kRoom && stage != Stage::kInput;
}

const char* StageName(Stage stage) noexcept;  // "room", "input", "plan", ...

struct StageStats {
  uint64_t count = 0;  // samples; pictures in kDecode and kAugment, waits in kInput, chunks of
                       // samples in kRoom and kPlan, batches in kBatch
  uint64_t bytes = 0;  // payloads in kRead and kParse, encoded images in kDecode, arrays in kWrite
  std::chrono::nanoseconds time{0};  // includes the current stage so far
};

// JPEGs decoded in kDecode.
struct PictureStats {
  uint64_t pixels = 0;       // pixels of the images
  uint64_t made = 0;         // of these, pixels decoded: a crop does not need all
  uint64_t coded_bytes = 0;  // encoded bytes read to decode them
};

// What readers of objects in stores (s3://, gs://, https://) waited for.
enum class StoreWait : uint8_t {
  kFirstByte,  // for the first byte of an answer
  kTransfer,   // for the rest of it
  kThrottled,  // because the store answered 429 or 503: pauses, repetitions, fewer requests at once
  kRetry,      // because of other failures: pauses and repetitions
};
inline constexpr size_t kStoreWaits = 4;

const char* StoreWaitName(StoreWait wait) noexcept;  // "first_byte", "transfer", ...

// What a worker fetched from object stores, and waited for. All 0 for files on disks.
struct StoreStats {
  // Waits of the worker: parts of kInput. Includes the current wait so far
  std::array<std::chrono::nanoseconds, kStoreWaits> waits{};
  // Requests that are over, also those that failed:
  uint64_t requests = 0;
  uint64_t bytes = 0;                      // of accepted answers
  std::chrono::nanoseconds first_byte{0};  // sum over the requests: from sending to the first byte
  std::chrono::nanoseconds transfer{0};    // sum over the requests: from there to the last
  uint64_t throttled = 0;                  // answered with 429 or 503
  uint64_t retried = 0;                    // sent again after a failure, 429 and 503 included
  uint64_t hedged = 0;                     // sent a second time because the answer was late
  // Bytes that were announced to be read, with RECPACK_CACHE_BYTES; otherwise 0:
  uint64_t cache_hits = 0;    // in the cache
  uint64_t cache_misses = 0;  // fetched from the store

  std::chrono::nanoseconds wait(StoreWait what) const noexcept {
    return waits[static_cast<size_t>(what)];
  }
  void Add(const StoreStats& other) noexcept;
};

struct WorkerStats {
  std::array<StageStats, kStages> stages;
  PictureStats pictures;
  StoreStats store;
  Stage now = Stage::kRoom;
  // Lower bound of the time in this stage: since its block was last written
  std::chrono::nanoseconds now_for{0};
  uint32_t view = 0;    // of the current or last sample, in the mixture
  uint64_t record = 0;  // ordinal of that sample's record in the split
};

// What batches a loader returns.
enum class LoaderMode : uint8_t {
  kLive,           // batches of the data set
  kReplay,         // copies of ready batches, again and again; workers pause
  kReplayAndWork,  // the same, but workers make batches, which are discarded
  kSynthetic,      // one synthetic batch; workers pause
};

const char* LoaderModeName(LoaderMode mode) noexcept;

// Statistics of one loader since its start. The workers' values are not taken at exactly the same
// time.
struct LoaderStats {
  uint32_t number = 0;  // among the loaders of its process, from 0
  std::chrono::nanoseconds age{0};
  std::vector<WorkerStats> workers;

  uint32_t batch_size = 0;
  uint64_t batch_bytes = 0;  // of a slab
  uint32_t slots = 0;        // of the ring
  uint32_t slabs = 0;        // allocated: the ring's, and replacements of held ones
  uint32_t ready = 0;        // batches ready now
  uint32_t held = 0;         // batches that the consumer holds now
  double mean_ready = 0;     // mean number of ready batches when one was requested

  uint64_t batches = 0;  // live batches given to the consumer
  uint64_t samples = 0;
  uint64_t epochs = 0;                        // ended
  uint64_t waits = 0;                         // batches that were not ready when requested
  std::chrono::nanoseconds consumer_wait{0};  // includes the current wait
  bool consumer_waits = false;                // the consumer waits now

  LoaderMode requested = LoaderMode::kLive;
  LoaderMode mode = LoaderMode::kLive;
  uint64_t replayed = 0;       // batches given in modes other than live
  uint32_t held_back = 0;      // batches kept for repetition
  uint64_t thrown_chunks = 0;  // chunks of samples made and discarded

  StageStats Total(Stage stage) const noexcept;  // sum over the workers
  PictureStats TotalPictures() const noexcept;
  StoreStats TotalStore() const noexcept;
};

struct StatsReading {
  std::vector<LoaderStats> loaders;
  std::string unavailable;  // reason if there are no loaders, otherwise empty
};

// Reads the statistics of the live loaders of a process, which must belong to the same user unless
// the caller is privileged. Does not throw: `unavailable` says what cannot be read.
StatsReading ReadStats(int pid);

// Requests a mode from a loader of a process. The loader switches to it at the next request for a
// batch and leaves it after `duration` at the latest; LoaderStats::mode is the current one. In
// modes other than live, epochs have no end; afterwards the loader continues after the last live
// batch. Throws Error (kNotFound), with the reason, if there is no such loader.
void RequestMode(int pid, uint32_t number, LoaderMode mode, std::chrono::nanoseconds duration);

}  // namespace recpack
