// Loader: makes batches of a data set in several threads, ahead of the consumer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/slab.h"
#include "recpack/loader/audit.h"
#include "recpack/loader/batch.h"
#include "recpack/loader/batch_step.h"
#include "recpack/loader/cache.h"
#include "recpack/loader/field.h"
#include "recpack/loader/mixture.h"
#include "recpack/loader/order.h"
#include "recpack/loader/stats.h"

namespace recpack {

// Handling of samples that do not fill a batch on every rank. All ranks always make the same number
// of steps.
enum class LastBatch : uint8_t {
  kDrop,  // dropped
  kPad,   // filled up with repeated samples, for which Batch::mask() is 0
  kKeep,  // returned as a short batch, which may be empty on some ranks
};

// How the samples of a step are divided among the ranks.
enum class RankShare : uint8_t {
  kSamples,  // one by one; a rank stays in its own part of the data if the order's lanes
             // allow it
  kBatches,  // in contiguous runs: the batches of a single-rank loader, dealt in turn
};

// Handling of corrupt records. Other failures, such as I/O errors, are always errors.
enum class OnBadRecord : uint8_t {
  kFail,        // Next() throws
  kSubstitute,  // takes another record, chosen by (seed, epoch, position); at most 8 tries
};

struct LoaderOptions {
  std::vector<Field> fields;
  // Instead of `fields`: a list for each view of the mixture, which must give the same arrays. For
  // views whose records or augmentations differ.
  std::vector<std::vector<Field>> view_fields = {};
  std::vector<BatchStep> batch_steps = {};  // applied to each complete batch, in order
  uint32_t batch_size = 256;                // per rank
  OrderSpec order;
  uint64_t seed = 0;
  uint32_t rank = 0;
  uint32_t world_size = 1;
  RankShare share = RankShare::kSamples;
  // For RankShare::kBatches: number of ranks that this loader serves, starting with `rank`. The
  // loader returns a batch for each in turn; a token between them denotes the beginning of their
  // step.
  uint32_t local_ranks = 1;
  LastBatch last_batch = LastBatch::kDrop;
  uint64_t epoch = 0;  // first epoch; ignored if `resume` is set
  std::string resume;  // token to resume after; empty: begins at `epoch`
  // Number of epochs of the whole training, those before a resume token included; 0: no end. After
  // the last one nothing more is read, fetched or made, and Next() throws.
  uint64_t epochs = 0;
  int threads = 0;        // 0: AvailableThreads()
  uint32_t prefetch = 4;  // slabs of the ring: batches made ahead or held by the consumer
  // Maximum number of batches that the consumer may hold; at least 2. When the consumer requests
  // another batch, batches that it still holds leave the ring (except the last one, if it holds no
  // other) and are replaced by other slabs: at most max_live_batches - 1, which are allocated on
  // demand, reused, and kept until the loader ends. 0: batches never leave the ring. The ring's
  // slabs are then the only ones and are used in turn, so batches must be released in the order in
  // which they came.
  uint32_t max_live_batches = 16;
  CacheOptions cache;  // default: none
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  // Maximum share of the epoch's records on this rank that may be substituted.
  double max_bad_share = 0.001;
  // File to which substitutions are appended, one line of JSON each (docs/format/ledger.md); one
  // file per rank. A resumed run uses the same file; substitutions that it already contains are not
  // written again. Default: none.
  std::string ledger;
  // With a token: Loader::audit() at the time of the token, to continue from. If the number of
  // ranks changes, give the merged audit to one rank and nothing to the others.
  std::optional<EpochAudit> audit;
  bool audit_counts = false;  // one byte per record; lets the audit name the records that differ
  // Takes part in runs of `recprobe gain`, where batches are repeated or synthetic
  // (docs/reference/gain.md). Set to false for loaders that do not train, such as evaluation.
  bool in_gain_runs = true;
  std::chrono::milliseconds stall_timeout = std::chrono::minutes(5);  // at most a year
  // Called by Next() about ten times per second while it waits, for example to check for signals.
  // Next() passes on its exceptions; the next call waits for the same batch.
  std::function<void()> while_waiting;
  // An automatic backend becomes kMapped if records are below 16 KiB on average. That backend
  // handles SIGBUS for its own copies and passes other signals on.
  RandomAccessOptions source;
  SlabAllocator* slabs = nullptr;  // null: HostSlabs(); outlives the loader
};

// A record that was replaced by another.
struct Substitution {
  uint64_t epoch = 0;
  uint64_t position = 0;
  uint32_t view = 0;   // in the mixture
  uint64_t bad = 0;    // ordinal of the bad record
  uint64_t taken = 0;  // ordinal of its substitute
  Place place;         // of the bad record
  std::string reason;
};

// Makes batches for one consumer thread. Samples, their order and their augmentation are a pure
// function of data set, fields, order and seed; the number of threads and prefetching have no
// influence.
class Loader {
 public:
  // Starts the threads. Throws Error (kInvalidArgument), with the reason, if options are invalid or
  // the token belongs to another data set or view.
  Loader(const Mixture& samples, LoaderOptions options);
  // Stops the threads, each after its current sample. Batches that are still held stay valid. A
  // worker that does not return from a read within stall_timeout, or within a second if Next() has
  // already given up on it, is abandoned; it keeps the slabs, data set and slab allocator in use.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Waits for the next batch and returns it; nullopt at the end of each epoch, after which the next
  // epoch begins. If a sample failed, throws the error of the failed sample with the lowest
  // position, with its place; the loader then gives no more batches. Also throws Error:
  // - kInvalidArgument if the consumer holds max_live_batches, or, if that is 0, the slab that is
  // needed next;
  // - kIo, naming what is waited for, if no batch came for stall_timeout; the next call waits
  // again;
  // - kInvalidArgument after the end of the last of `epochs`;
  // - whatever the slab allocator throws if a held batch cannot be replaced; the next call succeeds
  // once a batch was released;
  // - kInvalidArgument in a child forked since the loader was made: threads are not inherited.
  std::optional<Batch> Next();

  // Thread-safe. Ends a waiting Next(); from now on, Next() throws Error (kInvalidArgument) instead
  // of waiting. Call this to join the consumer's thread before destroying the loader.
  void WaitNoMore() noexcept;

  // Mode of the next batch, as of now: kLive except in experiments.
  LoaderMode NextMode();
  // Returns true if the loader takes part in a run of recprobe gain.
  bool in_gain_run() const noexcept;
  // Call before the first batch: sets the number of batches in a step of the consumer, between
  // which experiments change modes. The caller then reports the batches that the consumer takes
  // (GainMark). Default: a batch for each of `local_ranks`.
  void CountSteps(uint32_t batches) noexcept;

  // Returns the resume token for the position after the last batch that Next() returned.
  std::string Token() const;

  // Audit of the batches returned so far in the epoch; after its end and before the next batch, of
  // the whole epoch.
  const EpochAudit& audit() const noexcept;

  // Substitutions in the batches returned so far.
  const std::vector<Substitution>& substitutions() const noexcept;

  // Returns statistics up to now. Thread-safe. Other processes get the same with ReadStats().
  LoaderStats stats() const;

  // Returns statistics up to now; zeros without a cache. Thread-safe.
  CacheStats cache_stats() const noexcept;

  const std::vector<ArraySpec>& arrays() const noexcept;
  const Mixture& samples() const noexcept;
  uint64_t steps_per_epoch() const noexcept;
  const LoaderOptions& options() const noexcept;  // with 0 and auto replaced by their values

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with threads that are stuck in a read
};

}  // namespace recpack
