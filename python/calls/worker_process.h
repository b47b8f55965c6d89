// Worker process that calls user functions, as seen by the loader.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "recpack/base/bytes.h"
#include "recpack/base/descriptor.h"

namespace recpack::python {

// Alignment of items in the memory shared by both sides.
inline constexpr size_t kSharedAlignment = 64;
inline constexpr size_t SharedPlace(size_t at) {
  return (at + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

// Message for a sample; read by recpack_io.serving.
struct CallMessage {
  uint64_t function = 0, id = 0, epoch = 0, position = 0;
  uint64_t key_low = 0, key_high = 0, seed = 0;
  uint64_t height = 0, width = 0, channels = 0, picture_at = 0;  // channels 0: no image
  uint64_t example_at = 0, example_bytes = 0;                    // a tf.train.Example
  double left = 0, top = 0, crop_width = 0, crop_height = 0;     // as PictureCrop
  uint64_t source_height = 0, source_width = 0, flip = 0;
  uint64_t audio_channels = 0, audio_length = 0, audio_at = 0;  // channels 0: no sound
  uint64_t audio_begin = 0, audio_frames = 0, audio_rate = 0;   // as AudioPart
};

// Message for a batch, sent with its slab's descriptor. The example, at 0, describes the slab.
struct BatchMessage {
  uint64_t function = 0, epoch = 0, position = 0;
  uint64_t key_low = 0, key_high = 0, seed = 0;
  uint64_t samples = 0, slab = 0, slab_bytes = 0, example_bytes = 0;
};

// Not thread-safe, except Stop().
class WorkerProcess {
 public:
  // Takes ownership of the descriptors of a message socket and of memory. Throws Error (kIo).
  WorkerProcess(int socket, int memory, pid_t id);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  std::span<uint8_t> memory() const noexcept { return memory_; }

  // Wait for the answer. A non-empty result is a failure, for raise_failure(), and lies in the
  // memory. Throw Error: kIo, with the exit status, if the process ended; kInvalidArgument after
  // Stop().
  ByteView Call(const CallMessage& call);
  ByteView Call(const BatchMessage& call, int slab);

  // Thread-safe. Ends a call and tells the process to end.
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
