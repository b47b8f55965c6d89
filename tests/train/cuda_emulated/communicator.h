// A rank's member of a communicator of the emulated NCCL.
#pragma once

#include <nccl.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/train/cuda_emulated/mailbox.h"

namespace recpack::emulated {

// What all ranks must agree on.
struct NcclCall {
  enum class Op : uint8_t { kAllReduce, kReduce, kReduceScatter, kBroadcast, kAllGather };
  Op op;
  size_t count;        // as passed to the function
  size_t value_bytes;  // of an element
  int root = 0;
  bool operator==(const NcclCall&) const = default;
};

// Arguments of one rank.
struct NcclArrays {
  const void* in;
  void* out;
  size_t in_bytes, out_bytes;
};

}  // namespace recpack::emulated

// Target of NCCL's opaque handle. Its work in streams may outlive the handle.
struct ncclComm : std::enable_shared_from_this<ncclComm> {
  ncclComm(const std::string& folder, int rank, int size, int device);

  // Result of ncclCommGetAsyncError(); while it is in progress, no call is accepted.
  ncclResult_t State();
  ncclResult_t Enqueue(const char* name, const recpack::emulated::NcclCall& call,
                       const recpack::emulated::NcclArrays& arrays, cudaStream_t stream);
  void Finalize();
  // Ends pending work in streams, with garbage results.
  void Abort() { aborted_ = true; }

  int size() const { return mail_.size(); }
  bool finalized() const { return finalizing_; }
  const char* last_error() const { return error_; }

 private:
  bool Joined();
  bool Arrived(size_t number, const recpack::emulated::NcclCall& call) const;
  void Finish(size_t number, const recpack::emulated::NcclCall& call,
              const recpack::emulated::NcclArrays& arrays);

  const recpack::emulated::Mailbox mail_;
  const int device_;
  std::atomic<bool> aborted_ = false, joined_ = false, finalizing_ = false;
  std::atomic<int> slow_ = 0;  // number of times it still reports ncclInProgress
  std::atomic<ncclResult_t> failure_ = ncclSuccess;
  std::atomic<const char*> error_ = "";
  std::atomic<size_t> calls_ = 0, done_ = 0;
};
