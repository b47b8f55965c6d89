// Streams of work that runs later.
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

// Of one piece of work.
struct Completion {
  bool done = false;
  std::chrono::steady_clock::time_point at;  // once done
};
using Token = std::shared_ptr<Completion>;

struct Work {
  std::function<void()> run;         // empty: a mark only
  uint32_t devices = 0;              // bits: those whose memory it touches
  int device = 0;                    // that does it
  std::function<bool()> ready = {};  // what it waits for besides streams; empty: nothing
};

// Captured work.
struct Node {
  enum class Kind : uint8_t { kKernel, kCopy, kFill, kHost, kEmpty, kRecord, kWait };
  Kind kind = Kind::kEmpty;
  Work work;
  std::vector<size_t> after;    // nodes before it
  cudaEvent_t event = nullptr;  // to be recorded or waited for at each launch
};

}  // namespace recpack::emulated

// What the handles of CUDA's headers point to.
struct CUstream_st {
  struct Entry {
    recpack::emulated::Work work;
    std::vector<recpack::emulated::Token> after;
    recpack::emulated::Token token;
  };
  int device = 0;
  bool blocking = false;   // it and the default stream wait for each other
  bool destroyed = false;  // goes once it is empty
  uint64_t rank = 0;       // of the streams that can, the one of the highest runs; 0: it sleeps
  std::deque<Entry> queue;
  recpack::emulated::Token last;                // of what was enqueued last; null: nothing
  std::vector<recpack::emulated::Token> waits;  // of what is enqueued next
  // While it is captured.
  std::shared_ptr<recpack::emulated::Capture> capture;
  std::vector<size_t> tips;  // nodes that the next comes after
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

// Runs what streams hold. Not safe for several threads.
class Streams {
 public:
  // before(work) is called ahead of each piece; false: it is left out. idle() is called where all
  // that is left waits for what other threads or processes do, and lets them.
  Streams(uint64_t seed, std::function<bool(const Work&)> before, std::function<void()> idle)
      : random_(seed), before_(std::move(before)), idle_(std::move(idle)) {}

  cudaStream_t Create(int device);
  void Destroy(cudaStream_t stream);
  bool Knows(cudaStream_t stream) const;
  std::vector<cudaStream_t> BlockingOf(int device) const;

  // Behind all that the stream holds, `after` and the stream's waits.
  Token Enqueue(cudaStream_t stream, Work work, std::vector<Token> after = {});

  // Runs pieces until this one is done: by chance, or of its stream alone as far as that goes.
  void RunUntil(const Token& token);
  // As many as chance will have. Without sleepers: of those alone that others did not leave behind.
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
