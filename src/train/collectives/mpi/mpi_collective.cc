#include "src/train/collectives/mpi/mpi_collective.h"

#include <chrono>
#include <optional>
#include <thread>

#include "recpack/base/clock.h"
#include "src/train/collectives/collective_failure.h"
#include "src/train/collectives/mpi/mpi_session.h"
#include "src/train/collectives/transport.h"

namespace recpack::train {
namespace {

// MPI can only be polled: first without a pause, then with yields, then with sleeps.
class Patience {
 public:
  void Pause() {
    ++times_;
    if (times_ > kYields) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    } else if (times_ > kSpins) {
      std::this_thread::yield();
    }
  }
  // Notices and the clock are checked less often.
  bool Look() const noexcept { return times_ % kSpins == 0 || times_ > kYields; }

 private:
  static constexpr int kSpins = 50;
  static constexpr int kYields = 1000;
  int times_ = 0;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport() : session_(MpiSession::Get()), ended_(static_cast<size_t>(size())) {
    const std::lock_guard lock(session_.mutex());
    tag_ = session_.NextTag();
  }

  ~MpiTransport() override {
    const std::lock_guard lock(session_.mutex());
    Tell();
  }

  int rank() const noexcept override { return session_.rank(); }
  int size() const noexcept override { return session_.size(); }

  void Move(std::span<const Parcel> parcels, const CollectiveCall& call,
            std::chrono::milliseconds timeout) override {
    try {
      Post(parcels);
      Await(call, timeout);
    } catch (const std::exception& error) {
      Abandon();
      Fail(AbortError(rank(), error.what()));  // unless that error ended it
      ThrowWhatEndedIt();
    }
  }

  void Fail(const Error& error) noexcept override {
    const std::lock_guard lock(session_.mutex());
    if (failure_) return;
    SetFailure(error);
    Tell();
  }

  void Check() override {
    const std::lock_guard lock(session_.mutex());
    HearAll();
    ThrowIfFailed();
  }

 private:
  struct Pending {
    MPI_Request request = MPI_REQUEST_NULL;
    int rank = 0;
    bool receives = false;
  };

  void Post(std::span<const Parcel> parcels) {
    const std::lock_guard lock(session_.mutex());
    ThrowIfFailed();
    pending_.clear();
    pending_.reserve(2 * parcels.size());  // no request is posted without a place for it
    for (int other = 0; other < size(); ++other) {
      const Parcel& parcel = parcels[static_cast<size_t>(other)];
      if (other == rank()) continue;
      if (parcel.receive_bytes > 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        CheckMpi(MPI_Irecv(parcel.receive, static_cast<int>(parcel.receive_bytes), MPI_BYTE, other,
                           tag_, session_.arrays(), &request),
                 "MPI_Irecv");
        pending_.push_back({request, other, true});
      }
      if (parcel.send_bytes > 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        CheckMpi(MPI_Isend(parcel.send, static_cast<int>(parcel.send_bytes), MPI_BYTE, other, tag_,
                           session_.arrays(), &request),
                 "MPI_Isend");
        pending_.push_back({request, other, false});
      }
    }
  }

  void Await(const CollectiveCall& call, std::chrono::milliseconds timeout) {
    auto deadline = DeadlineAfter(timeout);
    Patience patience;
    while (true) {
      const size_t before = pending_.size();
      {
        const std::lock_guard lock(session_.mutex());
        EraseDone();
        if (pending_.empty()) {
          ++moves_;
          return;
        }
        if (patience.Look()) {
          HearAll();
          ThrowIfFailed();
          ThrowIfEnded(call);
        }
      }
      if (pending_.size() < before) deadline = DeadlineAfter(timeout);
      if (patience.Look() && std::chrono::steady_clock::now() >= deadline) {
        if (!Overslept(deadline)) GiveUp(call, timeout);
        deadline = DeadlineAfter(timeout);
      }
      patience.Pause();
    }
  }

  [[noreturn]] void GiveUp(const CollectiveCall& call, std::chrono::milliseconds timeout) {
    std::vector<int> missing;
    for (const Pending& pending : pending_) {
      if (missing.empty() || missing.back() != pending.rank) missing.push_back(pending.rank);
    }
    const Error error = LateError(missing, call, timeout);
    Fail(error);
    throw Error(error);
  }

  // The functions below need the session's mutex.

  // Requests that failed remain, for Abandon().
  void EraseDone() {
    int code = MPI_SUCCESS;
    std::erase_if(pending_, [&code](Pending& pending) {
      int done = 0;
      if (code == MPI_SUCCESS) code = MPI_Test(&pending.request, &done, MPI_STATUS_IGNORE);
      return code == MPI_SUCCESS && done != 0;
    });
    CheckMpi(code, "MPI_Test");
  }

  void HearAll() noexcept {
    MpiNotice told;
    for (int other = session_.Hear(tag_, told); other >= 0; other = session_.Hear(tag_, told)) {
      const auto failure = ToFailure(told.notice);
      if (failure && !failure_) SetFailure(*failure);
      if (!failure) ended_[static_cast<size_t>(other)] = told.moves + 1;
    }
  }

  // A rank that has ended takes part in no move after its last; messages that it sent before still
  // arrive.
  void ThrowIfEnded(const CollectiveCall& call) {
    for (const Pending& pending : pending_) {
      const uint64_t ended = ended_[static_cast<size_t>(pending.rank)];
      if (ended == 0 || ended - 1 > moves_) continue;
      SetFailure(LeftError(pending.rank, call));
      Tell();
      ThrowIfFailed();
    }
  }

  // Releases the caller's memory. What others have not received yet, they will not receive.
  void Abandon() noexcept {
    const std::lock_guard lock(session_.mutex());
    for (Pending& pending : pending_) {
      if (pending.request == MPI_REQUEST_NULL) continue;  // it ended with an error
      if (pending.receives) {
        MPI_Cancel(&pending.request);
        MPI_Wait(&pending.request, MPI_STATUS_IGNORE);
      } else {
        MPI_Request_free(&pending.request);
      }
    }
    pending_.clear();
  }

  void SetFailure(const Error& error) noexcept {
    failure_ = error;
    session_.SetFailed();
  }

  void Tell() noexcept {
    if (told_) return;
    told_ = true;
    session_.Tell(tag_, {moves_, ToNotice(failure_)});
  }

  void ThrowIfFailed() const {
    if (failure_) throw Error(*failure_);
  }

  [[noreturn]] void ThrowWhatEndedIt() {
    const std::lock_guard lock(session_.mutex());
    throw Error(failure_.value());
  }

  MpiSession& session_;
  int tag_ = 0;
  std::vector<Pending> pending_;
  // per rank: 0, or one more than the number of moves it took part in
  std::vector<uint64_t> ended_;
  uint64_t moves_ = 0;  // number of finished moves
  std::optional<Error> failure_;
  bool told_ = false;
};

}  // namespace

bool HasMpi() noexcept { return true; }

std::unique_ptr<Collective> MpiCollective(const CollectiveOptions& options) {
  return MessageCollective(std::make_unique<MpiTransport>(), options);
}

}  // namespace recpack::train
