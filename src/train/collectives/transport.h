// Messages between processes, on which collectives are built.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "recpack/base/error.h"
#include "src/train/collectives/collective.h"

namespace recpack::train {

// What goes to one rank and what comes from it. Both sides know the sizes.
struct Parcel {
  const std::byte* send = nullptr;
  size_t send_bytes = 0;
  std::byte* receive = nullptr;
  size_t receive_bytes = 0;
};

// One rank's end. One thread at a time, but for Fail() and Check().
class Transport {
 public:
  virtual ~Transport() = default;  // tells the others that this rank takes no part any more

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // Exchanges a parcel with every rank, in the order of ranks; this rank's own is not looked at.
  // Returns when all that is to come has come, and all that is sent may be overwritten. Throws what
  // Fail() got, here or at another rank; that a rank was lost; or that nothing came for the time of
  // `timeout`. `call` is for messages.
  virtual void Move(std::span<const Parcel> parcels, const CollectiveCall& call,
                    std::chrono::milliseconds timeout) = 0;

  // Ends the run for all ranks with `error`, unless it has ended already. Any thread.
  virtual void Fail(const Error& error) noexcept = 0;
  // Throws if the run has ended. Any thread, at once.
  virtual void Check() = 0;
};

// All operations, by slices between all pairs of ranks, over any transport. Waits for all ranks.
std::unique_ptr<Collective> MessageCollective(std::unique_ptr<Transport> transport,
                                              const CollectiveOptions& options);

}  // namespace recpack::train
