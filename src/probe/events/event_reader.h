// Reads the event files of watched programs (docs/format/events.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/event_log.h"

namespace recpack::probe {

// An event with its process and its name.
struct TimedEvent {
  Event event;  // event.name is not used
  int process = 0;
  std::string name;
};

// Reads the event files of a folder while they grow. Not thread-safe.
class EventReader {
 public:
  // The time after which the kernel has written a file's pages to the disk
  // (vm.dirty_expire_centisecs), with a margin. Freeing them earlier may block on the disk, and
  // with it the program that appends to the file.
  static constexpr std::chrono::seconds kWrittenBack{60};

  // `free_after`: frees the disk space of records that were read so long ago, if the file system
  // supports it, as a training of days writes gigabytes. Other readers then see zeros. nullopt:
  // never.
  explicit EventReader(std::string folder, std::optional<std::chrono::seconds> free_after = {});
  ~EventReader();

  // Returns the events since the last call: each file's in the order written, files in any order.
  // Reads malformed or truncated files up to the first bad record. Checks files of processes that
  // have ended (or have another PID in this namespace) at every 64th call only, as a training may
  // start thousands of workers one after the other.
  // `most`: approximate limit; later calls return the rest.
  std::vector<TimedEvent> Poll(size_t most = SIZE_MAX);
  // Gives all events that there are, as Poll() does, a part at a time: they may be more than the
  // memory holds.
  void PollParts(const std::function<void(const std::vector<TimedEvent>& part)>& take);
  // As Poll(), but checks all files. For the last call.
  std::vector<TimedEvent> PollAll();

  // Returns a message for each file that could not be read to its end.
  const std::vector<std::string>& damage() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
