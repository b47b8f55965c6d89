// Collective operations between the ranks of a run: threads of a process, processes, or GPUs.
// docs/reference/collectives.md lists the guarantees of each kind.
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

// A call by one rank. `in` may be `out`.
struct CollectiveCall {
  CollectiveOp op = CollectiveOp::kBarrier;
  // AllReduce, Reduce: floats; ReduceScatter: floats of a part; Broadcast: bytes; AllGather: bytes
  // of a part; Barrier: 0.
  size_t count = 0;
  int root = 0;  // for Reduce and Broadcast
  const void* in = nullptr;
  void* out = nullptr;
};

// Returns true if operation, count and root are equal, as the calls of two ranks must be.
bool SameCall(const CollectiveCall& a, const CollectiveCall& b) noexcept;

// "AllReduce of 10 floats", "Broadcast of 8 bytes from rank 2".
std::string CallText(const CollectiveCall& call);

// Totals of one rank's calls. For a device collective, the time covers enqueueing only.
struct CollectiveAccount {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // of the arrays passed; for operations on parts, of all parts
  double seconds = 0;  // within calls, including the wait for other ranks
};

struct CollectiveOptions {
  // No timeout.
  static constexpr std::chrono::milliseconds kNoLimit = std::chrono::milliseconds::max();

  // Time without any progress after which a call fails, naming the missing ranks. It must exceed a
  // step of the slowest rank, and rank 0's work between steps, such as writing a checkpoint.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  // Timeout for connecting; some processes may start late.
  std::chrono::milliseconds connect_timeout = std::chrono::minutes(5);
  // This rank's machine, such as MachineId(). If there are several machines, each with the same
  // number of ranks, more than one, then ranks that exchange messages compute AllReduce() in two
  // levels: sums of each machine, then sums of these. 0 at any rank: in one level.
  uint64_t machine = 0;
};

// One rank's member. All ranks call the same operations in the same order with the same sizes;
// otherwise every rank gets an Error that names two differing calls. Not thread-safe, except
// Abort() and Check(). After a rank has failed, aborted, been destroyed early or been lost, current
// and later calls on all other ranks throw within seconds, all the same Error with the rank and the
// reason; the contents of arrays are then undefined.
//
// Sums are f32, added in rank order, ((x0 + x1) + x2) + ..., in every implementation but NCCL's:
// the same bits on every rank and in every run. In two levels (CollectiveOptions::machine) that
// holds for the ranks of each machine, and for the machines' sums, in the order of their first
// ranks. NCCL guarantees only equal results on all ranks.
class Collective {
 public:
  virtual ~Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // Where arrays must be: -1 for host memory, else the memory of that device. Host calls return
  // when `data` may be used, and ignore `stream`. Device calls enqueue on `stream`.
  virtual int device() const noexcept { return -1; }

  // The host-memory collective of the same ranks; *this if device() is -1.
  virtual Collective& host() noexcept { return *this; }

  // Sets every rank's `data` to the sum over ranks.
  void AllReduce(std::span<float> data, DeviceStream stream = nullptr);

  // Sets the root's `data` to the sum over ranks; others' is unchanged.
  void Reduce(std::span<float> data, int root, DeviceStream stream = nullptr);

  // `all` consists of size() equal parts; sets `part` to the sum over ranks of part number rank().
  // `part` may be that part of `all`; the rest of `all` is unchanged.
  void ReduceScatter(std::span<const float> all, std::span<float> part,
                     DeviceStream stream = nullptr);

  // Copies the root's `data` to every rank.
  void Broadcast(std::span<std::byte> data, int root, DeviceStream stream = nullptr);

  // Fills `all` with the parts of all ranks, in rank order. `part` may be its place in `all`.
  void AllGather(std::span<const std::byte> part, std::span<std::byte> all,
                 DeviceStream stream = nullptr);

  // Returns when all ranks have called it. Does not wait for streams.
  void Barrier();

  // Ends the run for all ranks, see above. The first reason is kept. Thread-safe.
  virtual void Abort(const std::string& reason) noexcept = 0;

  // Throws if the run is known to have failed on any rank. Thread-safe; does not block.
  virtual void Check() = 0;

  const CollectiveAccount& account() const noexcept { return account_; }

 protected:
  Collective(int rank, int size) : rank_(rank), size_(size) {}

 private:
  // Runs a call whose sizes and root are valid.
  virtual void Run(const CollectiveCall& call, DeviceStream stream) = 0;
  void Account(const CollectiveCall& call, size_t bytes, DeviceStream stream);
  void CheckRoot(int root, const char* call) const;

  int rank_;
  int size_;
  CollectiveAccount account_;
};

// Returns each rank's value, in rank order. Collective.
std::vector<uint64_t> GatherValues(Collective& collective, uint64_t value);

// A kind of collectives between GPUs, one rank per GPU.
struct GpuCollectives {
  std::string name;  // "NCCL"
  // Returns why they cannot be made on this machine; empty: they can.
  std::function<std::string()> unavailable = {};
  // Makes the member for GPU number `device`, among the ranks that `host` connects. Collective.
  // Empty: not available.
  std::function<std::unique_ptr<Collective>(std::shared_ptr<Collective> host, int device)> make =
      {};
  // Identifies GPU number `device` of this machine among all machines; two ranks must not share
  // one.
  std::function<std::string(int device)> place = {};
};

// For `ranks` threads of this process: each sums a slice of all arrays in place, without copies.
// Element r is rank r's. Throws Error (kInvalidArgument) for fewer than one rank.
std::vector<std::unique_ptr<Collective>> ThreadCollectives(int ranks,
                                                           const CollectiveOptions& options = {});

// Collectives between the threads of a training's process. They have no timeout: no thread can be
// lost, one that fails aborts, and the waits of each thread have timeouts of their own: the
// loader's (`stall_timeout`) for input, the process collective's for other processes. A shorter
// timeout here would end a run that waits legitimately for those.
inline std::vector<std::unique_ptr<Collective>> LocalCollectives(int threads) {
  return ThreadCollectives(threads, {.timeout = CollectiveOptions::kNoLimit});
}

}  // namespace recpack::train
