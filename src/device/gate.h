// Gate: tracks which of a loader's batches are in use.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "recpack/loader/batch.h"

namespace recpack {

// Lets the feeder request a batch only when the loader has its slab: slabs are used in turn, so the
// batch needs the slab of the one `slabs` before it.
class Gate : public std::enable_shared_from_this<Gate> {
 public:
  explicit Gate(size_t slabs) : slabs_(slabs) {}

  // Waits until a batch may be requested. Returns false once Stop() was called.
  bool Wait() {
    std::unique_lock lock(mutex_);
    waits_ = true;
    changed_.wait(lock, [&] { return stopped_ || MayAsk(); });
    waits_ = false;
    return !stopped_;
  }

  // Returns the consumer whose batch must be released before Wait() returns; nullopt if it does not
  // wait.
  std::optional<size_t> WaitsFor() const {
    const std::lock_guard lock(mutex_);
    if (!waits_ || MayAsk()) return std::nullopt;
    return out_.begin()->second;
  }

  // Counts the batch as in use for the lifetime of the result. `consumer`: the one that the batch
  // is for. Request only one batch at a time.
  std::shared_ptr<const Batch> Hold(Batch batch, size_t consumer) {
    const std::lock_guard lock(mutex_);
    auto let_go = [gate = shared_from_this(), number = next_](const Batch* held) {
      delete held;
      gate->LetGo(number);
    };
    std::shared_ptr<const Batch> held(new Batch(std::move(batch)), std::move(let_go));
    out_.emplace(next_++, consumer);
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
  bool MayAsk() const { return out_.empty() || next_ < out_.begin()->first + slabs_; }

  void LetGo(uint64_t number) noexcept {
    {
      const std::lock_guard lock(mutex_);
      out_.erase(number);
    }
    changed_.notify_all();
  }

  const size_t slabs_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 0;               // number of the next batch
  std::map<uint64_t, size_t> out_;  // consumers of the batches in use, by batch number
  bool waits_ = false;
  bool stopped_ = false;
};

}  // namespace recpack
