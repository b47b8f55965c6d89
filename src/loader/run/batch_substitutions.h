// Substitutions of one worker, by batch, until the consumer takes the batch.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "recpack/loader/loader.h"

namespace recpack {

// Thread-safe.
class BatchSubstitutions {
 public:
  void Add(uint64_t batch, Substitution substitution) {
    const std::lock_guard lock(mutex_);
    entries_.emplace_back(batch, std::move(substitution));
  }

  // Removes and returns those of the batch.
  std::vector<Substitution> Take(uint64_t batch) {
    const std::lock_guard lock(mutex_);
    std::vector<Substitution> taken;
    std::erase_if(entries_, [&](auto& entry) {
      if (entry.first == batch) taken.push_back(std::move(entry.second));
      return entry.first == batch;
    });
    return taken;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<uint64_t, Substitution>> entries_;
};

}  // namespace recpack
