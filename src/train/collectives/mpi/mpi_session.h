// This process's MPI state. The only header that includes mpi.h.
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

// A notice in MPI messages, which are not ordered with the sender's arrays.
struct MpiNotice {
  uint64_t moves = 0;  // moves that the sender has finished
  Notice notice;
};

// Initialised on first use, permanently. Hold mutex() for all members and all MPI calls.
class MpiSession {
 public:
  static MpiSession& Get();

  std::mutex& mutex() noexcept { return mutex_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  MPI_Comm arrays() const noexcept { return arrays_; }    // for the collectives' arrays
  MPI_Comm notices() const noexcept { return notices_; }  // for notices

  // A tag for a new collective; equal on all ranks, which make collectives in the same order.
  int NextTag() noexcept { return next_tag_++; }

  // Sends to all other ranks without waiting.
  void Tell(int tag, const MpiNotice& notice) noexcept;

  // Receives the next notice with a tag; returns its sender, or -1 if there is none. Does not wait.
  int Hear(int tag, MpiNotice& notice) noexcept;

  // Shortens the program's wait for other ranks at exit.
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
  int next_tag_ = 1;  // tag 0 is used at exit
  bool failed_ = false;
  std::list<Outgoing> outgoing_;  // kept until sent
};

}  // namespace recpack::train
