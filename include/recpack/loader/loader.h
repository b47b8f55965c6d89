// Batches of a data set, made by several threads ahead of their consumer.
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

struct BatchMemory;
struct BatchPlan;

// What becomes of samples that do not fill a batch on every rank. All ranks always make the same
// number of steps.
enum class LastBatch : uint8_t {
  kDrop,  // left out
  kPad,   // filled up with repeated samples, which Batch::mask() marks with 0
  kKeep,  // a short batch, on some ranks an empty one
};

// Which samples of a step are whose.
enum class RankShare : uint8_t {
  kSamples,  // dealt one by one: a rank keeps to its own part of the data where the order's lanes
             // allow that
  kBatches,  // a stretch each: batches are those that a loader of one rank makes, dealt in turn
};

// What becomes of records that are corrupt. Any other failure, as of the disk, always fails.
enum class OnBadRecord : uint8_t {
  kFail,        // Next() throws
  kSubstitute,  // another record is taken, chosen by (seed, epoch, position); at most 8 tries
};

struct LoaderOptions {
  std::vector<Field> fields;
  std::vector<BatchStep> batch_steps = {};  // done to each batch when it is whole, in this order
  uint32_t batch_size = 256;                // of one rank
  OrderSpec order;
  uint64_t seed = 0;
  uint32_t rank = 0;
  uint32_t world_size = 1;
  RankShare share = RankShare::kSamples;
  // Of RankShare::kBatches: the ranks that this loader is for, `rank` and those behind it. It gives
  // a batch of each in turn; a token between them says the beginning of their step.
  uint32_t local_ranks = 1;
  LastBatch last_batch = LastBatch::kDrop;
  uint64_t epoch = 0;     // to begin with; not with a token
  std::string resume;     // a token: begins behind the batch that it came with
  int threads = 0;        // 0: AvailableThreads()
  uint32_t prefetch = 4;  // batches that are made ahead, or held by the consumer: the ring's slabs
  // The most batches that the consumer may hold, 2 or more. Those that it still holds when it asks
  // for another leave the ring (but for the last one, where that is all it holds), and other slabs
  // take their places: at most max_live_batches - 1, which are made when they are needed, used
  // again and kept until the loader ends. 0: none leaves. The ring's slabs are all there are and go
  // round, and batches are let go of in the order in which they came.
  uint32_t max_live_batches = 16;
  CacheOptions cache;  // what stays in memory from epoch to epoch; none
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  // Of the epoch's records on this rank, the most that may be substituted.
  double max_bad_share = 0.001;
  // Substitutions are appended to this file, a line of JSON each (docs/format/ledger.md); one file
  // a rank. A resumed run names the same file: what is in it is not written again. Empty: none.
  std::string ledger;
  // With a token: what Loader::audit() was when the token was, to go on from. Of several ranks,
  // where their number changes: all merged, for one rank, and nothing for the others.
  std::optional<EpochAudit> audit;
  bool audit_counts = false;  // a byte a record, so that the audit can name what differs
  // Whether it takes part where `recprobe gain` has batches repeated or made up (docs/gain.md). Off
  // for what is no training: evaluation then stays what it is.
  bool in_gain_runs = true;
  std::chrono::milliseconds stall_timeout = std::chrono::minutes(5);  // a year at most
  // Called by Next() about ten times a second while it waits, to look for signals say. What it
  // throws leaves Next(); asked again, that waits for the same batch.
  std::function<void()> while_waiting;
  // An automatic backend is kMapped where records are below 16 KiB on average; that one handles
  // SIGBUS for its own copies and hands others' on.
  SourceOptions source;
  SlabAllocator* slabs = nullptr;  // null: HostSlabs(); outlives the loader
};

// A record that was replaced.
struct Substitution {
  uint64_t epoch = 0;
  uint64_t position = 0;
  uint32_t view = 0;   // of the mixture
  uint64_t bad = 0;    // ordinal of the record that was meant
  uint64_t taken = 0;  // ordinal of the one in its place
  Place place;         // of the bad one
  std::string reason;
};

// One consumer thread. Samples, their order and their augmentation are a pure function of the data
// set, fields, order and seed; threads and prefetching change nothing.
class Loader {
 public:
  // Of a data set, a view of one, or a mixture. Starts its threads. Throws Error: kInvalidArgument
  // for options that make no sense or a token of another data set or view, with the reason.
  Loader(const Mixture& samples, LoaderOptions options);
  // Stops within the work on one sample; batches that are still held stay valid. A worker that does
  // not come back from a read within stall_timeout, or a second after Next() gave up on it, is left
  // to itself, and keeps the slabs, data set and slab allocator in use.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch; nothing at the end of each epoch, after which the next one goes on. Waits for
  // it. Throws what happened to the sample with the lowest position that failed, with its place;
  // the loader is at its end then. Throws Error (kInvalidArgument) where the consumer holds
  // max_live_batches, or with 0 the slab that comes next; what the slab allocator throws where a
  // held batch cannot be replaced: asked again, once one was let go of, it goes on; and Error (kIo)
  // where nothing came for stall_timeout, naming what is waited for; asked again it waits again. In
  // a child forked since the loader was made it throws: threads are not inherited.
  std::optional<Batch> Next();

  // Any thread: a Next() that waits ends, and from now on one that would have to wait throws Error
  // (kInvalidArgument). For whoever is to join the consumer's thread before it destroys the loader.
  void WaitNoMore() noexcept;

  // What the next batch will be, as things stand: live, but in experiments.
  LoaderMode NextMode();
  // Whether it takes part in a run of recprobe gain.
  bool in_gain_run() const noexcept;
  // Before the first batch: so many batches make a step of the consumer, between which experiments
  // change from one mode to the other, and whoever calls this tells of the batches that the
  // consumer takes (GainMark). Otherwise a step is a batch of each of `local_ranks`.
  void CountSteps(uint32_t batches) noexcept;

  // Where the consumer stands: behind the last batch that Next() gave.
  std::string Token() const;

  // Of the batches given so far in the epoch; after its end, until the next batch, of all of it.
  const EpochAudit& audit() const noexcept;

  // Of the batches given so far.
  const std::vector<Substitution>& substitutions() const noexcept;

  // Where its time went, up to now. Any thread. Other processes read the same: ReadStats().
  LoaderStats stats() const;

  // Up to now; zeros without a cache. Any thread.
  CacheStats cache_stats() const noexcept;

  const std::vector<ArraySpec>& arrays() const noexcept;
  const Mixture& samples() const noexcept;
  uint64_t steps_per_epoch() const noexcept;
  const LoaderOptions& options() const noexcept;  // with what 0 and auto came to

 private:
  struct State;
  std::optional<Batch> Take(LoaderMode mode);
  std::optional<Batch> Experiment(LoaderMode mode);
  bool KeepReady();
  Batch Of(const BatchPlan& plan) const;
  static void Show(const BatchMemory& memory, std::shared_ptr<void> hold, Batch& batch);

  std::shared_ptr<State> state_;  // also of threads that a dead disk holds
};

}  // namespace recpack
