// Shared-memory page with a loader's statistics; layout in docs/format/stats.md.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "recpack/loader/stats.h"
#include "src/remote/http/traffic.h"

namespace recpack {

inline constexpr char kStatsName[] = "recpack-stats";
inline constexpr uint64_t kStatsMagic = 0x5441545350434552;  // "RECPSTAT"
inline constexpr uint32_t kStatsVersion = 4;
inline constexpr uint64_t kModeBits = 7;

using PageWord = std::atomic<uint64_t>;
static_assert(PageWord::is_always_lock_free && sizeof(PageWord) == 8);

struct StatsHeader {
  PageWord magic;
  uint32_t version;
  uint32_t stages;
  uint32_t workers;
  uint32_t worker_bytes;
  uint32_t process;
  uint32_t number;
  uint32_t slots;
  uint32_t batch_size;
  uint64_t batch_bytes;
  uint64_t started;
  uint64_t reserved[9];
};

struct ControlBlock {
  PageWord request;
  uint64_t reserved[7];  // words written by other processes have their own cache line
  PageWord mode;
  PageWord held;
  PageWord given;
  PageWord thrown;
  uint64_t reserved_too[4];
};

struct RingBlock {
  PageWord written;
  PageWord released;
  PageWord slabs;
  uint64_t reserved[5];
};

struct ConsumerBlock {
  PageWord sequence;
  PageWord batches;
  PageWord samples;
  PageWord wait;
  PageWord waiting_since;
  PageWord waits;
  PageWord ready;
  PageWord epochs;
};

struct StageWords {
  PageWord count;
  PageWord bytes;
  PageWord time;
};

struct WorkerBlock {
  PageWord sequence;
  PageWord stage;
  PageWord record;
  PageWord since;
  PageWord view;
  PageWord pixels;
  PageWord pixels_made;
  PageWord coded_bytes;
  StageWords stages[kStages];
  uint64_t reserved_too[2];
  remote::Traffic store;
};

struct StatsBlocks {
  StatsHeader header;
  ControlBlock control;
  RingBlock ring;
  ConsumerBlock consumer;

  // The workers' blocks follow.
  WorkerBlock& worker(size_t i) noexcept { return reinterpret_cast<WorkerBlock*>(this + 1)[i]; }
};
static_assert(sizeof(StatsHeader) == 128 && sizeof(ControlBlock) == 128 &&
              sizeof(RingBlock) == 64 && sizeof(ConsumerBlock) == 64 &&
              sizeof(WorkerBlock) == 448 && sizeof(StatsBlocks) == 384);

// Sequence lock for one writer: readers see all stores of its lifetime or none.
class PageWrite {
 public:
  explicit PageWrite(PageWord& sequence) noexcept : sequence_(sequence) {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  ~PageWrite() {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  PageWrite(const PageWrite&) = delete;

  // Release order: a reader that sees the value also sees the odd sequence number.
  static void Set(PageWord& word, uint64_t value) noexcept {
    word.store(value, std::memory_order_release);
  }
  static void Add(PageWord& word, uint64_t value) noexcept {
    Set(word, word.load(std::memory_order_relaxed) + value);
  }

 private:
  PageWord& sequence_;
};

// Owns the page, in an anonymous file (memfd) if the system has them, otherwise in private memory
// that only this process sees.
class StatsPage {
 public:
  struct Sizes {
    uint32_t workers;
    uint32_t slots;
    uint32_t batch_size;
    uint64_t batch_bytes;
  };
  explicit StatsPage(const Sizes& sizes);
  ~StatsPage();
  StatsPage(const StatsPage&) = delete;

  StatsBlocks& blocks() noexcept { return *blocks_; }
  size_t bytes() const noexcept { return bytes_; }
  bool published() const noexcept { return descriptor_ >= 0; }

  // Hides the page from other processes; the memory stays valid.
  void Unpublish() noexcept;

 private:
  bool Map();

  size_t bytes_;
  int descriptor_ = -1;
  StatsBlocks* blocks_ = nullptr;
  std::unique_ptr<std::byte[]> heap_;
};

// Reads the statistics from a checked page, counting open waits up to `now`.
LoaderStats Snapshot(StatsBlocks& blocks, uint64_t now);

}  // namespace recpack
