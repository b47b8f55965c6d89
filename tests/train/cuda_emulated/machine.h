// The emulated machine, and the entry to it from CUDA's runtime functions.
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
    std::set<int> peers;  // devices whose memory its kernels may access
  };

  // Null: the current device's default stream. Returns null if there is no such stream.
  std::optional<cudaStream_t> StreamOf(cudaStream_t handle) const;

  // Enqueues, or records if the stream is being captured. `devices`: bits of the devices whose
  // memory it accesses, beside the stream's and its peers'.
  cudaError_t Submit(cudaStream_t stream, Node::Kind kind, std::function<void()> run,
                     uint32_t devices = 0);
  // A kernel that begins once ready(), on a stream that is not captured.
  cudaError_t SubmitWaiting(cudaStream_t stream, std::function<void()> run,
                            std::function<bool()> ready);

  // Dependencies of a stream's next work through CUDA's default stream.
  std::vector<Token> ImplicitOrder(cudaStream_t stream) const;

  // Tells whether this device copies to and from the other directly.
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

  // Faults that tests inject.
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

// Exclusive access to the machine.
class Entered {
 public:
  Entered();
  ~Entered();  // protects device memory again
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

// Tells whether a call could interfere with a capture: CUDA forbids those during a capture, unless
// its mode allows them.
enum class Safety : uint8_t { kSafe, kUnsafe };

// The error with which `name` fails at once: an injected fault, or a call that a capture forbids.
// Must be reported.
cudaError_t Begin(Machine& machine, const char* name, Safety safety);

// Performs one runtime call: body(machine) is its result, and is remembered if it is an error.
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
