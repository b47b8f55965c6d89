// Sorts the events of a trace by begin, on the disk if they are many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/spool_file.h"
#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Needs memory for `most` events (about 100 bytes each) and for the different names. Further events
// go to an unnamed file in $TMPDIR or /tmp, 48 bytes each. Not thread-safe.
class TraceEvents {
 public:
  static constexpr size_t kMost = 2'000'000;
  static constexpr size_t kBatch = 65'536;

  explicit TraceEvents(size_t most = kMost) : most_(most) {}

  // Throws Error (kIo), for example if the disk is full.
  void Add(const TimedEvent& event);
  // Gives all events of devices, added before or after, to a process: some traces have the device's
  // number in its place.
  void SetDeviceProcess(int process) noexcept { device_process_ = process; }

  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // Returns the time of the earliest begin, and of the latest begin or end; 0 without events.
  int64_t first() const noexcept { return empty() ? 0 : first_; }
  int64_t last() const noexcept { return empty() ? 0 : last_; }

  // Calls `take` for all events by begin, in batches of at most kBatch. Of those with the same
  // begin, the one added first comes first. Throws as Add(). Call it once, after all are added.
  void ForBatches(const std::function<void(std::vector<TimedEvent>& batch)>& take);

 private:
  // Event::name is the number of the name. TimedEvent does not use it, except that 0 means none.
  struct Kept {
    Event event;
    int32_t process;
    uint32_t named;  // whether Event::name was not 0
  };
  class Run;
  struct LaterBegin;

  uint32_t NameNumber(const std::string& name);
  void SortKept();
  void Spill();
  TimedEvent ToTimedEvent(const Kept& kept) const;

  const size_t most_;
  uint64_t size_ = 0;
  int64_t first_ = INT64_MAX, last_ = INT64_MIN;
  int device_process_ = -1;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> names_;  // by number
  std::vector<Kept> kept_;                 // in memory, the latest
  std::unique_ptr<SpoolFile> spool_;
  std::vector<uint64_t> run_ends_;  // events in the file, by sorted run: bytes from its start
};

}  // namespace recpack::probe
