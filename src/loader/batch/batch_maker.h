// Makes batches that show their memory to the consumer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recpack/loader/batch.h"
#include "src/loader/batch/batch_memory.h"

namespace recpack {

// Place of a batch in its run.
struct BatchFacts {
  uint64_t epoch = 0;
  uint64_t number = 0;  // in the epoch, counted from where this run began
  uint32_t size = 0;    // samples
};

// The only writer of Batch.
class BatchMaker {
 public:
  explicit BatchMaker(std::shared_ptr<const std::vector<ArraySpec>> arrays)
      : arrays_(std::move(arrays)) {}

  // `token`: of the position after the batch. `hold`: keeps the memory until the batch is
  // destroyed.
  Batch Make(const BatchFacts& facts, std::string token, const BatchMemory& memory,
             std::shared_ptr<void> hold) const;

  static void SetLive(Batch& batch) noexcept { batch.live_ = true; }
  static void SetBlock(Batch& batch, const GainPlan::Block& block) noexcept {
    batch.gain_block_ = block;
  }

 private:
  const std::shared_ptr<const std::vector<ArraySpec>> arrays_;
};

}  // namespace recpack
