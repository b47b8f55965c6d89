// What the programs that are watched tell of themselves, as docs/format/events.md has it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/event_log.h"

namespace recpack::probe {

// An event of one of the processes, with its name.
struct TimedEvent {
  Event event;  // event.name means nothing here
  int process = 0;
  std::string name;
};

// Reads the event files of a folder while they grow. One thread.
class EventReader {
 public:
  // How long the kernel takes to write a file's pages to the disk (vm.dirty_expire_centisecs), and
  // then some: before, freeing them may wait for the disk, and who appends to the file with it.
  static constexpr std::chrono::seconds kWrittenBack{60};

  // `free_after`: gives the room of what was read so long ago back, where the file system can: a
  // training of days tells of gigabytes. Who else reads such files finds zeros. Nothing: never.
  explicit EventReader(std::string folder, std::optional<std::chrono::seconds> free_after = {});
  ~EventReader();

  // What came since the last call, each file's events in the order written, files in no order.
  // Files that are no event files, or not whole, are read as far as they make sense. Of processes
  // that are no more, or have another number here, and whose files were read to their ends, it
  // looks for more at each 64th call only: a training may start thousands of workers, one after the
  // other.
  // `most`: about so many at a time; the rest comes with later calls.
  std::vector<TimedEvent> Poll(size_t most = SIZE_MAX);
  // The same of all files: for the end.
  std::vector<TimedEvent> PollAll();

  // Files that could not be read to their ends, and why.
  const std::vector<std::string>& damage() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
