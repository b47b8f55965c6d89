// Snapshots of the statistics that a loader keeps in its page.
#include <algorithm>
#include <thread>

#include "recpack/base/clock.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {
namespace {

using std::chrono::nanoseconds;

constexpr int kTries = 100;  // tries to read a block that is not being written, before a pause
constexpr uint64_t kPatience = 200'000'000;  // ns

nanoseconds Nanoseconds(uint64_t count) { return nanoseconds(static_cast<int64_t>(count)); }

uint64_t Since(uint64_t then, uint64_t now) { return now > then ? now - then : 0; }

uint64_t Load(const PageWord& word) { return word.load(std::memory_order_acquire); }

// Calls `read` until no write happened meanwhile. Gives a preempted writer time to continue, but
// does not wait for a stopped one.
template <typename Read>
void ReadWhole(const PageWord& sequence, Read read) {
  const uint64_t deadline = MonotonicNow() + kPatience;
  for (int i = 1;; ++i) {
    const uint64_t before = Load(sequence);
    read();
    if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before) return;
    if (i % kTries != 0) continue;
    if (MonotonicNow() > deadline) return;
    std::this_thread::yield();
  }
}

StoreStats ReadStore(const remote::Traffic& traffic, uint64_t now) {
  StoreStats stats{.requests = Load(traffic.requests),
                   .bytes = Load(traffic.bytes),
                   .first_byte = Nanoseconds(Load(traffic.first_byte)),
                   .transfer = Nanoseconds(Load(traffic.transfer)),
                   .throttled = Load(traffic.throttled),
                   .retried = Load(traffic.retried),
                   .hedged = Load(traffic.hedged),
                   .cache_hits = Load(traffic.cache_hits),
                   .cache_misses = Load(traffic.cache_misses)};
  for (size_t i = 0; i < kStoreWaits; ++i) stats.waits[i] = Nanoseconds(Load(traffic.waits[i]));
  const uint64_t since = Load(traffic.since), what = Load(traffic.waits_for);
  if (since != 0 && what < kStoreWaits) stats.waits[what] += Nanoseconds(Since(since, now));
  return stats;
}

WorkerStats ReadWorker(const WorkerBlock& block, uint64_t now) {
  WorkerStats stats;
  uint64_t since = 0;
  ReadWhole(block.sequence, [&] {
    since = Load(block.since);
    for (size_t i = 0; i < kStages; ++i) {
      stats.stages[i] = {Load(block.stages[i].count), Load(block.stages[i].bytes),
                         Nanoseconds(Load(block.stages[i].time))};
    }
    stats.pictures = {Load(block.pixels), Load(block.pixels_made), Load(block.coded_bytes)};
    stats.store = ReadStore(block.store, now);
    stats.now = static_cast<Stage>(std::min<uint64_t>(Load(block.stage), kStages - 1));
  });
  stats.view = static_cast<uint32_t>(Load(block.view));
  stats.record = Load(block.record);
  stats.now_for = Nanoseconds(Since(since, now));
  stats.stages[static_cast<size_t>(stats.now)].time += stats.now_for;
  return stats;
}

LoaderMode ToMode(uint64_t word) {
  constexpr auto kLast = static_cast<uint64_t>(LoaderMode::kSynthetic);
  return word > kLast ? LoaderMode::kLive : static_cast<LoaderMode>(word);
}

void AddConsumer(const ConsumerBlock& block, uint64_t now, LoaderStats& stats) {
  uint64_t wait = 0, since = 0, ready = 0;
  ReadWhole(block.sequence, [&] {
    stats.batches = Load(block.batches);
    stats.samples = Load(block.samples);
    stats.epochs = Load(block.epochs);
    stats.waits = Load(block.waits);
    wait = Load(block.wait);
    since = Load(block.waiting_since);
    ready = Load(block.ready);
  });
  stats.consumer_waits = since != 0;
  if (stats.consumer_waits) wait += Since(since, now);
  stats.consumer_wait = Nanoseconds(wait);
  if (stats.batches > 0) {
    stats.mean_ready = static_cast<double>(ready) / static_cast<double>(stats.batches);
  }
}

}  // namespace

const char* StageName(Stage stage) noexcept {
  constexpr const char* kNames[kStages] = {"room",   "input",   "plan",     "read",  "parse",
                                           "decode", "augment", "function", "batch", "write"};
  return kNames[static_cast<size_t>(stage)];
}

const char* StoreWaitName(StoreWait wait) noexcept {
  constexpr const char* kNames[kStoreWaits] = {"first_byte", "transfer", "throttled", "retry"};
  return kNames[static_cast<size_t>(wait)];
}

void StoreStats::Add(const StoreStats& other) noexcept {
  for (size_t i = 0; i < kStoreWaits; ++i) waits[i] += other.waits[i];
  requests += other.requests;
  bytes += other.bytes;
  first_byte += other.first_byte;
  transfer += other.transfer;
  throttled += other.throttled;
  retried += other.retried;
  hedged += other.hedged;
  cache_hits += other.cache_hits;
  cache_misses += other.cache_misses;
}

const char* LoaderModeName(LoaderMode mode) noexcept {
  constexpr const char* kNames[] = {"live", "replay", "replay-and-work", "synthetic"};
  return kNames[static_cast<size_t>(mode)];
}

StageStats LoaderStats::Total(Stage stage) const noexcept {
  StageStats total;
  for (const WorkerStats& worker : workers) {
    const StageStats& own = worker.stages[static_cast<size_t>(stage)];
    total.count += own.count;
    total.bytes += own.bytes;
    total.time += own.time;
  }
  return total;
}

PictureStats LoaderStats::TotalPictures() const noexcept {
  PictureStats total;
  for (const WorkerStats& worker : workers) {
    total.pixels += worker.pictures.pixels;
    total.made += worker.pictures.made;
    total.coded_bytes += worker.pictures.coded_bytes;
  }
  return total;
}

StoreStats LoaderStats::TotalStore() const noexcept {
  StoreStats total;
  for (const WorkerStats& worker : workers) total.Add(worker.store);
  return total;
}

LoaderStats Snapshot(StatsBlocks& blocks, uint64_t now) {
  const StatsHeader& header = blocks.header;
  LoaderStats stats;
  stats.number = header.number;
  stats.age = Nanoseconds(Since(header.started, now));
  stats.batch_size = header.batch_size;
  stats.batch_bytes = header.batch_bytes;
  stats.slots = header.slots;
  for (size_t i = 0; i < header.workers; ++i) {
    stats.workers.push_back(ReadWorker(blocks.worker(i), now));
  }
  // Read in this order, so that each is at most the previous one.
  const uint64_t released = Load(blocks.ring.released);
  AddConsumer(blocks.consumer, now, stats);
  const uint64_t written = Load(blocks.ring.written);
  // Loaders of older versions do not count slabs: use the ring's.
  stats.slabs = static_cast<uint32_t>(std::max<uint64_t>(Load(blocks.ring.slabs), header.slots));
  const auto between = [](uint64_t less, uint64_t more, uint32_t most) {
    return static_cast<uint32_t>(std::min<uint64_t>(Since(less, more), most));
  };
  stats.ready = between(stats.batches, written, stats.slots);
  stats.held = between(released, stats.batches, stats.slabs);
  stats.requested = ToMode(Load(blocks.control.request) & kModeBits);
  stats.mode = ToMode(Load(blocks.control.mode));
  stats.held_back = static_cast<uint32_t>(Load(blocks.control.held));
  stats.replayed = Load(blocks.control.given);
  stats.thrown_chunks = Load(blocks.control.thrown);
  return stats;
}

}  // namespace recpack
