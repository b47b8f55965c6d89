#include "src/record/random/fetcher.h"

#if defined(RECPACK_HAVE_LIBURING)

#include <liburing.h>

#include <cerrno>
#include <deque>
#include <unordered_map>

#include "recpack/base/error.h"

namespace recpack {
namespace {

constexpr unsigned kDepth = 128;
// Maximum size of one read: request lengths have 32 bits, and results are signed.
constexpr size_t kMaxRequest = size_t{1} << 30;

// Reads with a private io_uring per source.
class IoUringFetcher final : public Fetcher {
 public:
  IoUringFetcher() : usable_(io_uring_queue_init(kDepth, &ring_, 0) == 0) {}

  ~IoUringFetcher() override {
    if (!usable_) return;
    backlog_.clear();
    while (!in_flight_.empty() && Reap()) {
    }
    io_uring_queue_exit(&ring_);
  }

  bool usable() const noexcept { return usable_; }

  void Begin(const std::shared_ptr<Fetch>& fetch) override {
    if (fetch->shard->file().descriptor() < 0 || fetch->size > kMaxRequest) return;
    if (in_flight_.size() >= kDepth || !Request(fetch)) backlog_.push_back(fetch);
  }

  void Submit() override { io_uring_submit(&ring_); }

  void Finish(Fetch& fetch) noexcept override {
    while (fetch.state == Fetch::kRunning && Reap()) {
    }
    if (fetch.state != Fetch::kDone) ReadNow(fetch);
  }

 private:
  // Queues a read; returns false if the ring is full.
  bool Request(const std::shared_ptr<Fetch>& fetch) {
    io_uring_sqe* request = io_uring_get_sqe(&ring_);
    if (request == nullptr) return false;
    io_uring_prep_read(request, fetch->shard->file().descriptor(), fetch->bytes().data(),
                       static_cast<unsigned>(fetch->size), fetch->offset);
    io_uring_sqe_set_data(request, fetch.get());
    fetch->state = Fetch::kRunning;
    in_flight_.emplace(fetch.get(), fetch);
    return true;
  }

  // Handles one completion and queues the next request of the backlog. Returns false if the ring
  // fails.
  bool Reap() noexcept {
    io_uring_cqe* completion = nullptr;
    if (io_uring_peek_cqe(&ring_, &completion) != 0) {
      const int code = io_uring_submit_and_wait(&ring_, 1);  // also submits what Submit() could not
      return code >= 0 || code == -EINTR || code == -EAGAIN || code == -EBUSY;
    }
    auto* fetch = static_cast<Fetch*>(io_uring_cqe_get_data(completion));
    const int result = completion->res;
    io_uring_cqe_seen(&ring_, completion);
    // Short or failed: pread() reports the reason, or retries after a signal.
    const bool whole = result >= 0 && static_cast<size_t>(result) == fetch->size;
    if (whole) fetch->got = fetch->size;
    fetch->state = whole ? Fetch::kDone : Fetch::kWaiting;
    in_flight_.erase(fetch);
    FollowUp();
    return true;
  }

  void FollowUp() noexcept {
    while (!backlog_.empty()) {
      const std::shared_ptr<Fetch> next = std::move(backlog_.front());
      backlog_.pop_front();
      if (next->state != Fetch::kWaiting) continue;  // already read by Finish()
      if (Request(next)) io_uring_submit(&ring_);
      return;
    }
  }

  io_uring ring_ = {};
  const bool usable_;
  // Keeps the buffers alive that the kernel may still write to.
  std::unordered_map<Fetch*, std::shared_ptr<Fetch>> in_flight_;
  std::deque<std::shared_ptr<Fetch>> backlog_;
};

}  // namespace

std::unique_ptr<Fetcher> MakeIoUringFetcher() {
  auto fetcher = std::make_unique<IoUringFetcher>();
  if (!fetcher->usable()) return nullptr;
  return fetcher;
}

}  // namespace recpack

#else

namespace recpack {
std::unique_ptr<Fetcher> MakeIoUringFetcher() { return nullptr; }
}  // namespace recpack

#endif
