// Counts what the consumer takes and how long it waits.
#pragma once

#include "recpack/base/clock.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {

// Used by the consumer's thread; the page must outlive it.
class ConsumerAccount {
 public:
  explicit ConsumerAccount(StatsBlocks& page) : page_(page) {}

  // The consumer waits during the lifetime of this object.
  class Waiting {
   public:
    explicit Waiting(ConsumerBlock& block) : block_(block), begun_(MonotonicNow()) {
      const PageWrite write(block_.sequence);
      PageWrite::Set(block_.waiting_since, begun_);
      PageWrite::Add(block_.waits, 1);
    }
    ~Waiting() {
      const PageWrite write(block_.sequence);
      PageWrite::Set(block_.waiting_since, 0);
      PageWrite::Add(block_.wait, MonotonicNow() - begun_);
    }
    Waiting(const Waiting&) = delete;

   private:
    ConsumerBlock& block_;
    const uint64_t begun_;
  };
  Waiting Wait() { return Waiting(page_.consumer); }

  // Number of ready batches that were not given yet. A batch is counted as written a moment after
  // it can be taken.
  uint64_t Ready() const noexcept {
    const uint64_t written = page_.ring.written.load(std::memory_order_relaxed);
    const uint64_t given = page_.consumer.batches.load(std::memory_order_relaxed);
    return written > given ? written - given : 0;
  }

  // Counts a live batch; `ready`: number of ready batches when it was requested.
  void Give(uint64_t samples, uint64_t ready) noexcept {
    const PageWrite write(page_.consumer.sequence);
    PageWrite::Add(page_.consumer.batches, 1);
    PageWrite::Add(page_.consumer.samples, samples);
    PageWrite::Add(page_.consumer.ready, ready);
  }

  void EndEpoch() noexcept {
    const PageWrite write(page_.consumer.sequence);
    PageWrite::Add(page_.consumer.epochs, 1);
  }

 private:
  StatsBlocks& page_;
};

}  // namespace recpack
