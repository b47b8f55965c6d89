// A rank's part in a communicator of the emulated NCCL.
#pragma once

#include <nccl.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/train/cuda_emulated/mailbox.h"

namespace recpack::emulated {

// What all ranks have to say alike.
struct NcclCall {
  enum class Op : uint8_t { kAllReduce, kReduce, kReduceScatter, kBroadcast, kAllGather };
  Op op;
  size_t count;        // as the function takes it
  size_t value_bytes;  // of an element
  int root = 0;
  bool operator==(const NcclCall&) const = default;
};

// What a rank passes.
struct NcclArrays {
  const void* in;
  void* out;
  size_t in_bytes, out_bytes;
};

}  // namespace recpack::emulated

// What the handle of NCCL's header points to. What it holds in streams may outlive the handle.
struct ncclComm : std::enable_shared_from_this<ncclComm> {
  ncclComm(const std::string& folder, int rank, int size, int device);

  // As ncclCommGetAsyncError() tells it; while it is in progress no call is taken.
  ncclResult_t State();
  ncclResult_t Enqueue(const char* name, const recpack::emulated::NcclCall& call,
                       const recpack::emulated::NcclArrays& arrays, cudaStream_t stream);
  void Finalize();
  // What lies in streams ends, with garbage.
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
  std::atomic<int> slow_ = 0;  // how often it says yet that it is in progress
  std::atomic<ncclResult_t> failure_ = ncclSuccess;
  std::atomic<const char*> error_ = "";
  std::atomic<size_t> calls_ = 0, done_ = 0;
};
