// Emulated streams, whose work runs later.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace recpack::emulated {

struct Capture;

// Completion of one piece of work.
struct Completion {
  bool done = false;
  std::chrono::steady_clock::time_point at;  // valid once done
};
using Token = std::shared_ptr<Completion>;

struct Work {
  std::function<void()> run;         // empty: a mark only
  uint32_t devices = 0;              // bits of the devices whose memory it accesses
  int device = 0;                    // that runs it
  std::function<bool()> ready = {};  // an additional condition; empty: none
};

// Captured work.
struct Node {
  enum class Kind : uint8_t { kKernel, kCopy, kFill, kHost, kEmpty, kRecord, kWait };
  Kind kind = Kind::kEmpty;
  Work work;
  std::vector<size_t> after;    // nodes before it
  cudaEvent_t event = nullptr;  // recorded or waited for at each launch
};

}  // namespace recpack::emulated

// Targets of the opaque handles of CUDA's headers.
struct CUstream_st {
  struct Entry {
    recpack::emulated::Work work;
    std::vector<recpack::emulated::Token> after;
    recpack::emulated::Token token;
  };
  int device = 0;
  bool blocking = false;   // it and the default stream wait for each other
  bool destroyed = false;  // freed once it is empty
  uint64_t rank = 0;       // the runnable stream with the highest rank runs; 0: it sleeps
  std::deque<Entry> queue;
  recpack::emulated::Token last;                // of the last work enqueued; null: none
  std::vector<recpack::emulated::Token> waits;  // for the work enqueued next
  // While it is captured.
  std::shared_ptr<recpack::emulated::Capture> capture;
  std::vector<size_t> tips;  // nodes before the next one
};

struct CUevent_st {
  int device = 0;
  bool timing = true;
  recpack::emulated::Token recorded;  // null: never
  // Where the last record was captured.
  std::shared_ptr<recpack::emulated::Capture> capture;
  std::vector<size_t> tips;
};

namespace recpack::emulated {

// Runs the work of streams. Not thread-safe.
class Streams {
 public:
  // Calls before(work) ahead of each piece, which is skipped if that returns false. Calls idle(),
  // which lets other threads or processes run, if all remaining work waits for them.
  Streams(uint64_t seed, std::function<bool(const Work&)> before, std::function<void()> idle)
      : random_(seed), before_(std::move(before)), idle_(std::move(idle)) {}

  cudaStream_t Create(int device);
  void Destroy(cudaStream_t stream);
  bool Knows(cudaStream_t stream) const;
  std::vector<cudaStream_t> BlockingOf(int device) const;

  // After everything in the stream, `after` and the stream's waits.
  Token Enqueue(cudaStream_t stream, Work work, std::vector<Token> after = {});

  // Runs pieces until this one is done: random ones, or as far as possible those of its stream.
  void RunUntil(const Token& token);
  // Runs a random number of pieces. Without sleepers: only of streams that others did not overtake.
  void RunSome(bool sleepers);
  void RunAll();
  void RunAllOf(int device);

  std::mt19937_64& random() { return random_; }
  size_t Waiting() const;  // pieces
  size_t Count() const;    // streams that are not destroyed

 private:
  void Run(CUstream_st& stream);
  bool RunOne(bool sleepers);  // false: there is none
  void AwaitOthers();
  uint64_t Rank();

  std::mt19937_64 random_;
  std::function<bool(const Work&)> before_;
  std::function<void()> idle_;
  std::vector<std::unique_ptr<CUstream_st>> streams_;
};

}  // namespace recpack::emulated
