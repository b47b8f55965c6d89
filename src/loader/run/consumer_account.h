// What the consumer took and how long it waited for it.
#pragma once

#include "recpack/base/clock.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {

// The consumer's thread; the page outlives it.
class ConsumerAccount {
 public:
  explicit ConsumerAccount(StatsBlocks& page) : page_(page) {}

  // Until it is destroyed the consumer waits.
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

  // Batches that are ready beyond those given. One is counted as written a moment after it can be
  // taken.
  uint64_t Ready() const noexcept {
    const uint64_t written = page_.ring.written.load(std::memory_order_relaxed);
    const uint64_t given = page_.consumer.batches.load(std::memory_order_relaxed);
    return written > given ? written - given : 0;
  }

  // A live batch was given; `ready` when it was asked for.
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
