// MPI as this process has it. The one header that includes mpi.h.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "src/train/collectives/notice.h"

namespace recpack::train {

// Throws Error (kIo) with MPI's text unless `code` is MPI_SUCCESS.
void CheckMpi(int code, const char* call);

// A notice as it goes over MPI, where nothing orders it behind the arrays of its sender.
struct MpiNotice {
  uint64_t moves = 0;  // that the sender has finished
  Notice notice;
};

// Initialised by the first use, for ever. All members, and all calls of MPI, under mutex().
class MpiSession {
 public:
  static MpiSession& Get();

  std::mutex& mutex() noexcept { return mutex_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  MPI_Comm arrays() const noexcept { return arrays_; }    // what collectives carry
  MPI_Comm notices() const noexcept { return notices_; }  // and what they tell beside it

  // A tag for one more collective; the same at all ranks, as they make them in the same order.
  int NextTag() noexcept { return next_tag_++; }

  // Sends to all others, and does not wait.
  void Tell(int tag, const MpiNotice& notice) noexcept;

  // The next notice of a tag, and who sent it; -1: none has come. Does not wait.
  int Hear(int tag, MpiNotice& notice) noexcept;

  // From now on the program's exit does not wait long for other ranks.
  void SetFailed() noexcept { failed_ = true; }

 private:
  struct Outgoing {
    MpiNotice notice;
    std::vector<MPI_Request> requests;
  };

  MpiSession();
  static void AtExit() noexcept;
  void Finish() noexcept;
  bool AllExit() noexcept;

  std::mutex mutex_;
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm arrays_ = MPI_COMM_NULL;
  MPI_Comm notices_ = MPI_COMM_NULL;
  int next_tag_ = 1;  // 0 is told at exit
  bool failed_ = false;
  std::list<Outgoing> outgoing_;  // until they are sent
};

}  // namespace recpack::train
