// Which of a loader's batches are out.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "recpack/pipeline/batch.h"

namespace recpack {

// Lets the feeder ask its loader for a batch only while the loader has the slab for it: slabs go
// round, so it is the one of the batch `slabs` before.
class Gate : public std::enable_shared_from_this<Gate> {
 public:
  explicit Gate(size_t slabs) : slabs_(slabs) {}

  // Waits until a batch may be asked for; false once Stop() was called.
  bool Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || out_.empty() || next_ < *out_.begin() + slabs_; });
    return !stopped_;
  }

  // Counts the batch for as long as the result lives. One is asked for at a time.
  std::shared_ptr<const Batch> Hold(Batch batch) {
    const std::lock_guard lock(mutex_);
    auto let_go = [gate = shared_from_this(), number = next_](const Batch* held) {
      delete held;
      gate->LetGo(number);
    };
    std::shared_ptr<const Batch> held(new Batch(std::move(batch)), std::move(let_go));
    out_.insert(next_++);
    return held;
  }

  void Stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

 private:
  void LetGo(uint64_t number) noexcept {
    {
      const std::lock_guard lock(mutex_);
      out_.erase(number);
    }
    changed_.notify_all();
  }

  const size_t slabs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 0;       // number of the batch that comes next
  std::set<uint64_t> out_;  // numbers of those that are held
  bool stopped_ = false;
};

}  // namespace recpack
