// Message transport between processes, on which MessageCollective() is built.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "recpack/base/error.h"
#include "src/train/collectives/collective.h"

namespace recpack::train {

// Data to send to one rank and buffer to receive from it. Both sides know the sizes.
struct Parcel {
  const std::byte* send = nullptr;
  size_t send_bytes = 0;
  std::byte* receive = nullptr;
  size_t receive_bytes = 0;
};

// One rank's endpoint. Not thread-safe, except Fail() and Check().
class Transport {
 public:
  virtual ~Transport() = default;  // tells the others that this rank leaves

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // Exchanges a parcel with every rank, indexed by rank; this rank's own is ignored. Returns when
  // everything has been received, and send buffers may be overwritten. Throws the error that Fail()
  // was given on any rank; or Error if a rank was lost, or nothing arrived for `timeout`. `call` is
  // for messages.
  virtual void Move(std::span<const Parcel> parcels, const CollectiveCall& call,
                    std::chrono::milliseconds timeout) = 0;

  // Ends the run for all ranks with `error`, unless it has ended already. Thread-safe.
  virtual void Fail(const Error& error) noexcept = 0;
  // Throws if the run has ended. Thread-safe; does not block.
  virtual void Check() = 0;
};

// Implements all operations over any transport, exchanging slices between all pairs of ranks. Waits
// for all ranks.
std::unique_ptr<Collective> MessageCollective(std::unique_ptr<Transport> transport,
                                              const CollectiveOptions& options);

}  // namespace recpack::train
