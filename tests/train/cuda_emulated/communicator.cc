#include "tests/train/cuda_emulated/communicator.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/train/cuda_emulated/machine.h"
#include "tests/train/cuda_emulated/nccl_faults.h"

namespace recpack::emulated {
namespace {

constexpr int kSlow = 2;

struct Fault {
  NcclFault kind;
  int rank, skip;
};

std::mutex fault_mutex;
std::optional<Fault> fault;

std::optional<NcclFault> FaultOf(int rank) {
  const std::lock_guard lock(fault_mutex);
  if (!fault || fault->rank != rank || fault->skip-- > 0) return {};
  const NcclFault kind = fault->kind;
  fault.reset();
  return kind;
}

std::string SubjectOf(size_t number) { return "call-" + std::to_string(number); }

// A letter contains the rank's call and the array that it passes.
constexpr size_t kHead = sizeof(NcclCall);

std::string LetterOf(const NcclCall& call, const NcclArrays& arrays) {
  std::string letter(kHead, '\0');
  std::memcpy(letter.data(), &call, kHead);
  return letter.append(static_cast<const char*>(arrays.in), arrays.in_bytes);
}

bool Says(const std::string& letter, const NcclCall& call) {
  NcclCall other = call;
  if (letter.size() < kHead) return false;
  std::memcpy(&other, letter.data(), kHead);
  return other == call;
}

void AddTo(float* sum, const char* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    sum[i] += value;
  }
}

// In rank order. `letters`: of all ranks; `skip`: bytes before the values to sum.
void Sum(const std::vector<std::string>& letters, size_t skip, void* out, size_t bytes) {
  std::memcpy(out, letters[0].data() + kHead + skip, bytes);
  for (size_t rank = 1; rank < letters.size(); ++rank) {
    AddTo(static_cast<float*>(out), letters[rank].data() + kHead + skip, bytes / sizeof(float));
  }
}

void Combine(const NcclCall& call, const std::vector<std::string>& letters, int rank,
             const NcclArrays& arrays) {
  char* const out = static_cast<char*>(arrays.out);
  switch (call.op) {
    case NcclCall::Op::kAllReduce:
      return Sum(letters, 0, out, arrays.out_bytes);
    case NcclCall::Op::kReduce:
      if (rank == call.root) Sum(letters, 0, out, arrays.out_bytes);
      return;
    case NcclCall::Op::kReduceScatter:
      return Sum(letters, arrays.out_bytes * static_cast<size_t>(rank), out, arrays.out_bytes);
    case NcclCall::Op::kBroadcast:
      letters[static_cast<size_t>(call.root)].copy(out, arrays.out_bytes, kHead);
      return;
    case NcclCall::Op::kAllGather:
      for (size_t i = 0; i < letters.size(); ++i) {
        letters[i].copy(out + i * arrays.in_bytes, arrays.in_bytes, kHead);
      }
  }
}

bool Lies(const Machine& machine, const void* array, size_t bytes, int device) {
  const auto found = machine.memory.Find(array);
  return found && found->device == device && machine.memory.Holds(array, bytes);
}

}  // namespace

void FailNccl(NcclFault kind, int rank, int skip) {
  const std::lock_guard lock(fault_mutex);
  fault = {kind, rank, skip};
}

}  // namespace recpack::emulated

using namespace recpack::emulated;  // NOLINT: the handle's type is NCCL's

ncclComm::ncclComm(const std::string& folder, int rank, int size, int device)
    : mail_(folder, rank, size), device_(device) {
  mail_.Post("here", "");
}

bool ncclComm::Joined() {
  if (!joined_) joined_ = mail_.AllPosted("here");
  return joined_;
}

ncclResult_t ncclComm::State() {
  if (!Joined()) return ncclInProgress;
  if (failure_ != ncclSuccess) return failure_;
  if (slow_ > 0 && slow_-- > 0) return ncclInProgress;
  if (finalizing_ && (done_ < calls_ || !mail_.AllPosted("end"))) return ncclInProgress;
  return ncclSuccess;
}

// A mismatched call waits forever, which is NCCL's best case.
bool ncclComm::Arrived(size_t number, const NcclCall& call) const {
  if (!mail_.AllPosted(SubjectOf(number))) return false;
  for (int rank = 0; rank < mail_.size(); ++rank) {
    if (!Says(mail_.Read(SubjectOf(number), rank, kHead), call)) return false;
  }
  return true;
}

void ncclComm::Finish(size_t number, const NcclCall& call, const NcclArrays& arrays) {
  if (aborted_) return FillWithGarbage(arrays.out, arrays.out_bytes);
  std::vector<std::string> letters;
  for (int rank = 0; rank < mail_.size(); ++rank) {
    letters.push_back(mail_.Read(SubjectOf(number), rank));
  }
  Combine(call, letters, mail_.rank(), arrays);
  if (number > 0) mail_.TakeBack(SubjectOf(number - 1));  // all ranks are past it
  ++done_;
}

// Calls on several streams run in the order in which they were made.
ncclResult_t ncclComm::Enqueue(const char* name, const NcclCall& call, const NcclArrays& arrays,
                               cudaStream_t handle) {
  if (State() == ncclInProgress || finalizing_) return ncclInvalidUsage;
  const auto injected = FaultOf(mail_.rank());
  const size_t number = calls_++;
  slow_ = kSlow;
  if (injected == NcclFault::kAsyncError) {
    error_ = "the network of the emulated machine failed";
    failure_ = ncclRemoteError;
  }
  const cudaError_t error = Call(name, [&](Machine& machine) {
    const auto stream = machine.StreamOf(handle);
    if (!stream || (*stream)->device != device_) return cudaErrorInvalidResourceHandle;
    if (!Lies(machine, arrays.in, arrays.in_bytes, device_) ||
        !Lies(machine, arrays.out, arrays.out_bytes, device_)) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t submitted = machine.SubmitWaiting(
        *stream,
        [self = shared_from_this(), number, call, arrays, injected] {
          if (!self->aborted_ && !injected) {
            self->mail_.Post(SubjectOf(number), LetterOf(call, arrays));
          }
        },
        [self = shared_from_this(), number] { return self->aborted_ || self->done_ == number; });
    if (submitted != cudaSuccess) return submitted;
    return machine.SubmitWaiting(
        *stream,
        [self = shared_from_this(), number, call, arrays] { self->Finish(number, call, arrays); },
        [self = shared_from_this(), number, call] {
          return self->aborted_ || self->Arrived(number, call);
        });
  });
  if (error == cudaSuccess) return ncclInProgress;
  const bool not_of_device =
      error == cudaErrorInvalidResourceHandle || error == cudaErrorInvalidValue;
  error_ = not_of_device ? "an array or a stream is none of the communicator's device"
                         : cudaGetErrorName(error);
  return error == cudaErrorInvalidValue ? ncclInvalidArgument : ncclUnhandledCudaError;
}

void ncclComm::Finalize() {
  mail_.Post("end", "");
  finalizing_ = true;
}
