#include "src/train/collectives/mpi/mpi_session.h"

#include <chrono>
#include <cstdlib>
#include <thread>

#include "src/base/format.h"

namespace recpack::train {
namespace {

constexpr int kExitTag = 0;
constexpr int kExitCode = 2;
// Time that a rank of a failed run waits for others to end by themselves.
constexpr auto kGrace = std::chrono::seconds(3);
constexpr auto kPause = std::chrono::milliseconds(1);

}  // namespace

void CheckMpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorKind::kIo, format("{}: {}", call, text));
}

MpiSession& MpiSession::Get() {
  static auto* const session = new MpiSession;
  return *session;
}

MpiSession::MpiSession() {
  int initialised = 0;
  int threads = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    CheckMpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads), "MPI_Init_thread");
    std::atexit(AtExit);
  } else {
    CheckMpi(MPI_Query_thread(&threads), "MPI_Query_thread");
  }
  if (threads < MPI_THREAD_SERIALIZED) {
    throw Error(ErrorKind::kUnsupported, "MPI was initialised without MPI_THREAD_SERIALIZED");
  }
  for (MPI_Comm* made : {&arrays_, &notices_}) {
    CheckMpi(MPI_Comm_dup(MPI_COMM_WORLD, made), "MPI_Comm_dup");
    CheckMpi(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  CheckMpi(MPI_Comm_rank(arrays_, &rank_), "MPI_Comm_rank");
  CheckMpi(MPI_Comm_size(arrays_, &size_), "MPI_Comm_size");
}

void MpiSession::Tell(int tag, const MpiNotice& notice) noexcept {
  Outgoing& outgoing = outgoing_.emplace_back(Outgoing{notice, {}});
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    // If a rank cannot be reached, MPI has lost it, and its launcher ends the job.
    if (MPI_Isend(&outgoing.notice, sizeof outgoing.notice, MPI_BYTE, other, tag, notices_,
                  &request) == MPI_SUCCESS) {
      outgoing.requests.push_back(request);
    }
  }
  outgoing_.remove_if([](Outgoing& sent) {
    int done = 0;
    const int count = static_cast<int>(sent.requests.size());
    return MPI_Testall(count, sent.requests.data(), &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
           done != 0;
  });
}

int MpiSession::Hear(int tag, MpiNotice& notice) noexcept {
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, notices_, &there, &status) != MPI_SUCCESS || there == 0 ||
      MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, tag, notices_,
               MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    return -1;
  }
  return status.MPI_SOURCE;
}

void MpiSession::AtExit() noexcept { Get().Finish(); }

// MPI_Finalize() waits for all ranks. Ranks that know of the failure announce that they exit.
void MpiSession::Finish() noexcept {
  const std::lock_guard lock(mutex_);
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (failed_ && !AllExit()) MPI_Abort(MPI_COMM_WORLD, kExitCode);
  MPI_Finalize();
}

bool MpiSession::AllExit() noexcept {
  Tell(kExitTag, {});
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  int exits = 1;
  while (exits < size_ && std::chrono::steady_clock::now() < deadline) {
    MpiNotice notice;
    if (Hear(kExitTag, notice) >= 0) {
      ++exits;
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
  return exits == size_;
}

}  // namespace recpack::train
