// A process that calls functions of the user, seen from the loader.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "recpack/base/bytes.h"
#include "recpack/base/descriptor.h"

namespace recpack::python {

// Where things lie in the memory that both sides share: at multiples of this.
inline constexpr size_t kSharedAlignment = 64;
inline constexpr size_t SharedPlace(size_t at) {
  return (at + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

// What the process is sent for a sample; recpack_io.workers reads it.
struct CallMessage {
  uint64_t function = 0, id = 0, epoch = 0, position = 0;
  uint64_t key_low = 0, key_high = 0, seed = 0;
  uint64_t height = 0, width = 0, channels = 0, picture_at = 0;  // channels 0: there is no picture
  uint64_t example_at = 0, example_bytes = 0;                    // a tf.train.Example
};

// And for a batch, with its slab's descriptor. The example, at 0, says what is in the slab.
struct BatchMessage {
  uint64_t function = 0, epoch = 0, position = 0;
  uint64_t key_low = 0, key_high = 0, seed = 0;
  uint64_t samples = 0, slab = 0, slab_bytes = 0, example_bytes = 0;
};

// One thread at a time, but for Stop().
class WorkerProcess {
 public:
  // Takes a socket of messages and memory, as descriptors. Throws Error (kIo).
  WorkerProcess(int socket, int memory, pid_t id);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  std::span<uint8_t> memory() const noexcept { return memory_; }

  // Wait for the answer. What is not empty is a failure, for raise_failure(), and lies in the
  // memory. Throw Error: kIo where the process ended, with how; kInvalidArgument after Stop().
  ByteView Call(const CallMessage& call);
  ByteView Call(const BatchMessage& call, int slab);

  // Any thread: ends a call, and tells the process to end.
  void Stop() noexcept;

 private:
  ByteView Send(const void* message, size_t bytes, int descriptor);
  ByteView Answer();
  [[noreturn]] void ThrowEnded();
  bool HasEnded(std::string* how) const;

  Descriptor socket_;
  pid_t id_;
  std::span<uint8_t> memory_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace recpack::python
