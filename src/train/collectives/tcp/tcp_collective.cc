#include "src/train/collectives/tcp/tcp_collective.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>

#include "recpack/base/clock.h"
#include "src/base/format.h"
#include "src/train/collectives/collective_failure.h"
#include "src/train/collectives/notice.h"
#include "src/train/collectives/tcp/tcp_mesh.h"
#include "src/train/collectives/transport.h"

namespace recpack::train {
namespace {

// Time to wait for the reason of a rank whose data connection broke.
constexpr auto kLastWords = std::chrono::seconds(2);

class TcpTransport final : public Transport {
 public:
  TcpTransport(const TcpOptions& where, const CollectiveOptions& options)
      : rank_(where.rank),
        mesh_(ConnectMesh(where, options)),
        parcels_(mesh_.data.size()),
        silent_(mesh_.data.size()),
        ended_(mesh_.data.size()),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) throw SystemError("eventfd", "", errno);
  }

  ~TcpTransport() override {
    const std::lock_guard lock(mutex_);
    Tell();
  }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return static_cast<int>(mesh_.data.size()); }

  void Move(std::span<const Parcel> parcels, const CollectiveCall& call,
            std::chrono::milliseconds timeout) override {
    ThrowIfKnownToHaveFailed();
    std::copy(parcels.begin(), parcels.end(), parcels_.begin());
    parcels_[static_cast<size_t>(rank_)] = {};
    Deadline deadline = DeadlineAfter(timeout);
    while (true) {
      if (Push(call)) deadline = DeadlineAfter(timeout);
      if (Pending().empty()) return;
      AwaitEvent(deadline, call, timeout);
    }
  }

  void Fail(const Error& error) noexcept override {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    SetFailure(error);
    Tell();
  }

  // A rank that disconnects without a notice is lost, even outside of calls.
  void Check() override {
    ThrowIfTold();
    const std::lock_guard lock(mutex_);
    for (int other = 0; other < size(); ++other) {
      if (other == rank_ || Hears(other) || ended_[static_cast<size_t>(other)]) continue;
      SetFailure({ErrorKind::kIo,
                  format("rank {} was lost: its process has ended, or the network failed", other),
                  {},
                  "see the last output of that process"});
      Tell();
      ThrowIfFailed();
    }
  }

 private:
  void ThrowIfTold() {
    const std::lock_guard lock(mutex_);
    for (int other = 0; other < size(); ++other) {
      if (Hears(other) && Readable(other, {})) ReadNotice(other);
    }
    ThrowIfFailed();
  }

  void ThrowIfKnownToHaveFailed() {
    const std::lock_guard lock(mutex_);
    ThrowIfFailed();
  }

  const Socket& Data(int other) const { return mesh_.data[static_cast<size_t>(other)]; }
  const Socket& Control(int other) const { return mesh_.control[static_cast<size_t>(other)]; }

  // Sends and receives what is possible without blocking; returns true if there was progress.
  bool Push(const CollectiveCall& call) {
    bool moved = false;
    for (int other = 0; other < size(); ++other) {
      Parcel& parcel = parcels_[static_cast<size_t>(other)];
      while (parcel.send_bytes > 0) {
        const ssize_t sent =
            send(Data(other).fd(), parcel.send, parcel.send_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (!Went(sent, other, call)) break;
        parcel.send += sent;
        parcel.send_bytes -= static_cast<size_t>(sent);
        moved = true;
      }
      while (parcel.receive_bytes > 0) {
        const ssize_t came =
            recv(Data(other).fd(), parcel.receive, parcel.receive_bytes, MSG_DONTWAIT);
        if (!Went(came, other, call)) break;
        parcel.receive += came;
        parcel.receive_bytes -= static_cast<size_t>(came);
        moved = true;
      }
    }
    return moved;
  }

  // Returns false if it would block. Throws if the connection is closed.
  bool Went(ssize_t bytes, int other, const CollectiveCall& call) {
    if (bytes > 0) return true;
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    ThrowLost(other, call);
  }

  // The ranks with unfinished transfers.
  std::vector<int> Pending() const {
    std::vector<int> ranks;
    for (int other = 0; other < size(); ++other) {
      const Parcel& parcel = parcels_[static_cast<size_t>(other)];
      if (parcel.send_bytes + parcel.receive_bytes > 0) ranks.push_back(other);
    }
    return ranks;
  }

  void AwaitEvent(Deadline& deadline, const CollectiveCall& call,
                  std::chrono::milliseconds timeout) {
    const size_t notices = SetWaits();
    const int ready = poll(waits_.data(), waits_.size(), PollTime(deadline));
    for (size_t i = 0; i < notices; ++i) {
      if (waits_[i].revents != 0) return ThrowIfTold();
    }
    if (ready != 0 || std::chrono::steady_clock::now() < deadline) return;
    if (Overslept(deadline)) {
      deadline = DeadlineAfter(timeout);
    } else {
      Fail(LateError(Pending(), call, timeout));
      ThrowIfTold();
    }
  }

  // Returns the number of entries, at the front, that are for notices.
  size_t SetWaits() {
    const std::lock_guard lock(mutex_);
    waits_.assign(1, {wake_.fd(), POLLIN, 0});
    for (int other = 0; other < size(); ++other) {
      if (Hears(other)) waits_.push_back({Control(other).fd(), POLLIN, 0});
    }
    const size_t notices = waits_.size();
    for (int other = 0; other < size(); ++other) {
      const Parcel& parcel = parcels_[static_cast<size_t>(other)];
      const int events =
          (parcel.send_bytes > 0 ? POLLOUT : 0) | (parcel.receive_bytes > 0 ? POLLIN : 0);
      if (events != 0) waits_.push_back({Data(other).fd(), static_cast<int16_t>(events), 0});
    }
    return notices;
  }

  [[noreturn]] void ThrowLost(int other, const CollectiveCall& call) {
    ThrowIfTold();
    bool ended = false;
    {
      const std::lock_guard lock(mutex_);
      const Deadline deadline = std::chrono::steady_clock::now() + kLastWords;
      if (Hears(other) && Readable(other, deadline)) ReadNotice(other);
      ThrowIfFailed();
      ended = ended_[static_cast<size_t>(other)];
    }
    const Error error = ended ? LeftError(other, call) : LostError(other, call);
    Fail(error);
    throw Error(error);
  }

  // The functions below need mutex_.

  bool Hears(int other) const { return other != rank_ && !silent_[static_cast<size_t>(other)]; }

  bool Readable(int other, Deadline deadline) const noexcept {
    return AwaitReadable(Control(other), deadline);
  }

  void ReadNotice(int other) {
    Notice notice;
    const Deadline deadline = std::chrono::steady_clock::now() + kLastWords;
    silent_[static_cast<size_t>(other)] = true;  // a rank sends only one notice
    if (!ReceiveAll(Control(other), MessageBytes(notice), deadline)) return;
    ended_[static_cast<size_t>(other)] = true;
    if (const auto failure = ToFailure(notice); failure && !failure_) SetFailure(*failure);
  }

  void SetFailure(const Error& error) noexcept {
    failure_ = error;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.fd(), &one, sizeof one);
  }

  // Tells all others how this rank has ended, or why the run has.
  void Tell() noexcept {
    if (told_) return;
    told_ = true;
    const Notice notice = ToNotice(failure_);
    for (const Socket& socket : mesh_.control) {
      if (socket) SendAll(socket, MessageBytes(notice), {});
    }
  }

  void ThrowIfFailed() const {
    if (failure_) throw Error(*failure_);
  }

  const int rank_;
  TcpMesh mesh_;
  std::vector<Parcel> parcels_;  // remaining parts of the parcels
  std::vector<pollfd> waits_;

  std::mutex mutex_;
  std::vector<bool> silent_;  // no further notice comes from that rank
  std::vector<bool> ended_;   // by its notice
  std::optional<Error> failure_;
  bool told_ = false;
  const Socket wake_;  // an eventfd: readable once the run has failed
};

}  // namespace

std::unique_ptr<Collective> TcpCollective(const TcpOptions& where,
                                          const CollectiveOptions& options) {
  if (where.size < 1 || where.rank < 0 || where.rank >= where.size) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no rank {} of {}", where.rank, where.size));
  }
  return MessageCollective(std::make_unique<TcpTransport>(where, options), options);
}

}  // namespace recpack::train
