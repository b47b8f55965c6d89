// Sums and copies of arrays between the ranks of a run: the threads of a process, processes, or
// accelerators. What each way guarantees is in docs/training.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recpack/device/runtime.h"

namespace recpack::train {

enum class CollectiveOp : uint8_t {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kBroadcast,
  kAllGather,
  kBarrier,
};

// A call as one rank made it. `in` may be `out`.
struct CollectiveCall {
  CollectiveOp op = CollectiveOp::kBarrier;
  // AllReduce, Reduce: floats; ReduceScatter: floats of a part; Broadcast: bytes; AllGather: bytes
  // of a part; Barrier: 0.
  size_t count = 0;
  int root = 0;  // of Reduce and Broadcast
  const void* in = nullptr;
  void* out = nullptr;
};

// Whether calls of two ranks are the same one: operation, count and root are equal.
bool SameCall(const CollectiveCall& a, const CollectiveCall& b) noexcept;

// "AllReduce of 10 floats", "Broadcast of 8 bytes from rank 2".
std::string CallText(const CollectiveCall& call);

// What one rank's calls came to. Of an object of a device, the time is that until the work was
// enqueued.
struct CollectiveAccount {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // of the arrays that the rank passed; of a part's operation, all parts
  double seconds = 0;  // within calls, the wait for other ranks included
};

struct CollectiveOptions {
  // A timeout: none.
  static constexpr std::chrono::milliseconds kNoLimit = std::chrono::milliseconds::max();

  // How long a call waits with nothing coming before it gives up, and names the ranks that are
  // missing. A step of the slowest rank must fit, and what rank 0 does between steps, as to write a
  // checkpoint.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  // The same while processes find each other, as some may start late.
  std::chrono::milliseconds connect_timeout = std::chrono::minutes(5);
};

// The part of one rank. All ranks call the same operations in the same order with the same sizes;
// otherwise each gets an Error that names two calls that differ. One thread at a time uses an
// object, save for Abort() and Check(). Once a rank has failed, aborted, was destroyed too early or
// was lost, waiting and later calls of all others throw within seconds, each the same Error that
// says which rank it was and why; arrays then hold anything.
//
// Sums are f32 and added in rank order, ((x0 + x1) + x2) + ..., whatever carries them: the same
// bits at every rank, in every run. Of NCCL's order only this is sure: every rank gets the same.
class Collective {
 public:
  virtual ~Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // Where arrays must lie: -1 is the host's memory, else the memory of that device. The host's
  // calls end when `data` may be used; they ignore `stream`. A device's calls enqueue on `stream`.
  virtual int device() const noexcept { return -1; }

  // The collective of the same ranks for the host's memory; it is this one where device() is -1.
  virtual Collective& host() noexcept { return *this; }

  // Every rank's `data` becomes the sum over ranks.
  void AllReduce(std::span<float> data, DeviceStream stream = nullptr);

  // `data` of the root becomes the sum over ranks; that of others stays as it was.
  void Reduce(std::span<float> data, int root, DeviceStream stream = nullptr);

  // `all` is size() equal parts; `part` becomes the sum over ranks of their parts number rank().
  // `part` may be that part of `all`; what is left in `all` then is what was there.
  void ReduceScatter(std::span<const float> all, std::span<float> part,
                     DeviceStream stream = nullptr);

  // Every rank's `data` becomes that of the root.
  void Broadcast(std::span<std::byte> data, int root, DeviceStream stream = nullptr);

  // `all` becomes the parts of all ranks in rank order. `part` may be its place in `all`.
  void AllGather(std::span<const std::byte> part, std::span<std::byte> all,
                 DeviceStream stream = nullptr);

  // Returns when all ranks have called it. Waits for no stream.
  void Barrier();

  // Ends the run for all ranks: see above. The first reason counts. Any thread.
  virtual void Abort(const std::string& reason) noexcept = 0;

  // Throws if the run has failed at any rank, as far as it is known here. Any thread, at once.
  virtual void Check() = 0;

  const CollectiveAccount& account() const noexcept { return account_; }

 protected:
  Collective(int rank, int size) : rank_(rank), size_(size) {}

 private:
  // Does the call, whose sizes and root are valid.
  virtual void Run(const CollectiveCall& call, DeviceStream stream) = 0;
  void Account(const CollectiveCall& call, size_t bytes, DeviceStream stream);
  void CheckRoot(int root, const char* call) const;

  int rank_;
  int size_;
  CollectiveAccount account_;
};

// Each rank's value, in rank order: for sums and maxima of counts. A call as AllGather() is one.
std::vector<uint64_t> GatherValues(Collective& collective, uint64_t value);

// A kind of collectives between GPUs, one rank each.
struct GpuCollectives {
  std::string name;  // "NCCL"
  // Empty where they can be made on this machine; otherwise why not.
  std::function<std::string()> unavailable = {};
  // The part of the GPU `device`, of the ranks that `host` connects for the host's memory; all of
  // them make theirs at once. Empty: there is no such kind.
  std::function<std::unique_ptr<Collective>(std::shared_ptr<Collective> host, int device)> make =
      {};
  // Names the GPU `device` of this machine among those of all; two ranks cannot be of one place.
  std::function<std::string(int device)> place = {};
};

// For `ranks` threads of this process, which exchange no copies: each sums a slice of all arrays in
// place. Element r is rank r's. Throws Error (kInvalidArgument) if there is not one rank at least.
std::vector<std::unique_ptr<Collective>> ThreadCollectives(int ranks,
                                                           const CollectiveOptions& options = {});

}  // namespace recpack::train
