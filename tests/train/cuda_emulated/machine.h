// The one emulated machine, and how a call of CUDA's runtime enters it.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/train/cuda_emulated/capture.h"
#include "tests/train/cuda_emulated/device_memory.h"
#include "tests/train/cuda_emulated/emulator.h"
#include "tests/train/cuda_emulated/streams.h"

namespace recpack::emulated {

class Machine {
 public:
  explicit Machine(const Options& options);

  struct Device {
    cudaStream_t default_stream = nullptr;
    cudaError_t failed = cudaSuccess;
    std::set<int> peers;  // whose memory its kernels may touch
  };

  // Null: the current device's default one. Empty where there is no such stream.
  std::optional<cudaStream_t> StreamOf(cudaStream_t handle) const;

  // Enqueues, or records where the stream is captured. `devices`: bits of those whose memory it
  // touches beside the stream's and its peers'.
  cudaError_t Submit(cudaStream_t stream, Node::Kind kind, std::function<void()> run,
                     uint32_t devices = 0);
  // A kernel that begins once ready(); of a stream that is not captured.
  cudaError_t SubmitWaiting(cudaStream_t stream, std::function<void()> run,
                            std::function<bool()> ready);

  // What the next work of a stream comes after because of CUDA's default stream.
  std::vector<Token> ImplicitOrder(cudaStream_t stream) const;

  // Whether devices copy from and to here by themselves.
  bool Pinned(const void* memory) const;

  const Options options;
  DeviceMemory memory;
  std::vector<Device> devices;
  std::map<const char*, size_t> pinned;  // bytes by address
  Streams streams;
  std::set<cudaEvent_t> events;
  std::set<cudaGraph_t> graphs;
  std::set<cudaGraphExec_t> execs;
  Captures captures;

  // Of tests: what is to fail.
  struct Fault {
    std::string call;  // empty: work of `device`
    int device = 0;
    cudaError_t error = cudaSuccess;
    int skip = 0;
  };
  std::optional<Fault> fault;
  std::map<std::string, size_t> calls;

 private:
  cudaError_t Enqueue(cudaStream_t stream, Work work);
  bool Before(const Work& work);
  void LetOthers();
};

// The machine, for one at a time.
class Entered {
 public:
  Entered();
  ~Entered();  // what ran has ended: memory is shut again
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Machine* operator->() const;
  Machine& operator*() const;

 private:
  std::unique_lock<std::mutex> lock_;
};

// The calling thread's.
int& CurrentDevice();
cudaError_t& LastError();

// Whether a call may stand in a capture's way: CUDA forbids those while one goes on, unless the
// capture's mode lets them be.
enum class Safety : uint8_t { kSafe, kUnsafe };

// Whether `name` fails before it begins: by a fault, or as a capture forbids it. To be told.
cudaError_t Begin(Machine& machine, const char* name, Safety safety);

// One call of the runtime: body(machine) is its result, and is remembered where it is an error.
template <typename Body>
cudaError_t Call(const char* name, Safety safety, const Body& body) {
  const Entered machine;
  cudaError_t error = Begin(*machine, name, safety);
  if (error == cudaSuccess) error = body(*machine);
  if (error != cudaSuccess && error != cudaErrorNotReady) LastError() = error;
  return error;
}
template <typename Body>
cudaError_t Call(const char* name, const Body& body) {
  return Call(name, Safety::kSafe, body);
}

}  // namespace recpack::emulated
