#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "recpack/base/error.h"
#include "src/record/random/fetcher.h"

namespace recpack {
namespace {

// Advises the kernel in Begin() and reads in Finish().
class AdvisingFetcher final : public Fetcher {
 public:
  void Begin(const std::shared_ptr<Fetch>& fetch) override {
    fetch->shard->file().WillNeed(fetch->offset, fetch->size);
  }
  void Finish(Fetch& fetch) noexcept override {
    if (fetch.state != Fetch::kDone) ReadNow(fetch);
  }
};

// Reads in helper threads, in the order of Begin().
class ThreadsFetcher final : public Fetcher {
 public:
  explicit ThreadsFetcher(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
    }
  }

  void Begin(const std::shared_ptr<Fetch>& fetch) override {
    const std::lock_guard lock(mutex_);
    queue_.push_back(fetch);
  }

  void Submit() override { ready_.notify_all(); }

  // The caller reads requests that no helper has started yet.
  void Finish(Fetch& fetch) noexcept override {
    if (TryRun(fetch)) return;
    fetch.state.wait(Fetch::kRunning, std::memory_order_acquire);
  }

 private:
  static bool TryRun(Fetch& fetch) noexcept {
    int expected = Fetch::kWaiting;
    if (!fetch.state.compare_exchange_strong(expected, Fetch::kRunning)) return false;
    ReadNow(fetch);
    fetch.state.notify_all();
    return true;
  }

  void Work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (ready_.wait(lock, stop, [this] { return !queue_.empty(); })) {
      if (stop.stop_requested()) return;
      const std::shared_ptr<Fetch> fetch = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      TryRun(*fetch);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<std::shared_ptr<Fetch>> queue_;
  std::vector<std::jthread> threads_;  // last member: joined before the others are destroyed
};

}  // namespace

void ReadNow(Fetch& fetch) noexcept {
  try {
    fetch.got = fetch.shard->file().ReadAt(fetch.offset, fetch.bytes());
  } catch (const Error& error) {
    fetch.error = error;
  } catch (const std::exception& error) {
    fetch.error.emplace(ErrorKind::kIo, error.what(), Place{.path = fetch.shard->path()});
  }
  fetch.state.store(Fetch::kDone, std::memory_order_release);
}

std::unique_ptr<Fetcher> MakePreadFetcher(int threads) {
  if (threads > 0) return std::make_unique<ThreadsFetcher>(threads);
  return std::make_unique<AdvisingFetcher>();
}

}  // namespace recpack
