// How many of a loader's batches are out at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "recpack/pipeline/batch.h"

namespace recpack {

// Lets the feeder ask its loader for a batch only while the loader has slabs left.
class Gate : public std::enable_shared_from_this<Gate> {
 public:
  explicit Gate(size_t most) : most_(most) {}

  // Waits until a batch may be asked for; false once Stop() was called.
  bool Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || out_ < most_; });
    return !stopped_;
  }

  // Counts the batch for as long as the result lives. One is asked for at a time.
  std::shared_ptr<const Batch> Hold(Batch batch) {
    const std::lock_guard lock(mutex_);
    auto let_go = [gate = shared_from_this()](const Batch* held) {
      delete held;
      gate->LetGo();
    };
    std::shared_ptr<const Batch> held(new Batch(std::move(batch)), std::move(let_go));
    ++out_;
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
  void LetGo() noexcept {
    {
      const std::lock_guard lock(mutex_);
      --out_;
    }
    changed_.notify_all();
  }

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t out_ = 0;
  bool stopped_ = false;
};

}  // namespace recpack
