// Counts what a thread fetches from object stores, and what it waits for meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace recpack::remote {

// Indexes of Traffic::waits; recpack/loader/stats.h describes them.
enum class Wait : uint8_t { kFirstByte, kTransfer, kThrottled, kRetry };
inline constexpr size_t kWaits = 4;

// Counters of one thread. Other threads and processes may read them at any time: the loader keeps
// them on its page (docs/format/stats.md). Times are nanoseconds.
struct Traffic {
  using Word = std::atomic<uint64_t>;

  Word waits[kWaits];  // time that the thread waited, without the current wait
  Word waits_for;      // index of the current wait
  Word since;          // CLOCK_MONOTONIC at the beginning of the current wait; 0: there is none
  // Sums over requests that are over:
  Word requests;
  Word bytes;
  Word first_byte;
  Word transfer;
  Word throttled;
  Word retried;
  Word hedged;
  // Bytes of announced ranges:
  Word cache_hits;
  Word cache_misses;
  uint64_t reserved;

  // Called by the thread that owns it alone.
  static void Add(Word& word, uint64_t value) noexcept {
    word.store(word.load(std::memory_order_relaxed) + value, std::memory_order_release);
  }
};
static_assert(sizeof(Traffic) == 128);

// Returns the counters of the calling thread: those of its CountTraffic, otherwise of its own,
// which nobody reads.
Traffic& TrafficOfThread() noexcept;

// While it lives, what the thread does is counted in `traffic`.
class CountTraffic {
 public:
  explicit CountTraffic(Traffic& traffic) noexcept;
  ~CountTraffic();
  CountTraffic(const CountTraffic&) = delete;

 private:
  Traffic* const before_;
};

// Times of waits in a fetch [ns], which are counted once it is known what was to blame.
struct Waited {
  uint64_t times[kWaits] = {};

  uint64_t total() const noexcept;
  Waited operator-(const Waited& other) const noexcept;
  // Counts them for the calling thread.
  void Count() const noexcept;
  // The same, with a total of `time`.
  void CountAs(std::chrono::nanoseconds time) const noexcept;
};

// Returns what was counted for the calling thread so far.
Waited WaitedOfThread() noexcept;

// A wait of the calling thread, which others see while it lasts. End() or the destructor adds its
// time to `waited`.
class WaitSpan {
 public:
  WaitSpan(Wait what, Waited& waited) noexcept;
  ~WaitSpan() { End(); }
  WaitSpan(const WaitSpan&) = delete;

  void End() noexcept;

 private:
  const Wait what_;
  Waited& waited_;
  uint64_t begin_;  // 0: ended
};

}  // namespace recpack::remote
