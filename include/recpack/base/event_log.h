// Event log of a process: timed events written to a file for a profiler to read. The file layout is
// in docs/format/events.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace recpack {

enum class EventKind : uint8_t {
  kStep = 2,        // training step; value: step number, from 0
  kInputWait = 3,   // a training thread waits for its next batch
  kDevice = 4,      // device computation: one kernel, or a whole step without finer detail
  kCopy = 5,        // memory copy; value: bytes; `copy`: direction
  kCollective = 6,  // a device communicates with other devices, or waits for them
  kRange = 7,       // range named by the program (NVTX)
  kHost = 8,        // host work on behalf of a device: launches, synchronisation
};
inline constexpr int kLastEventKind = 8;

enum class CopyKind : uint8_t { kNone, kHostToDevice, kDeviceToHost, kDeviceToDevice, kPeerToPeer };

// Name of the ranges in which a prefetching thread waits for batches.
inline constexpr char kFetchedAhead[] = "input in a background thread";

// Nanoseconds of CLOCK_MONOTONIC.
struct Event {
  static constexpr uint16_t kNoDevice = 0xffff;

  EventKind kind = EventKind::kRange;
  CopyKind copy = CopyKind::kNone;
  bool open = false;  // not finished yet; the event is written again when it ends
  uint16_t device = kNoDevice;
  uint32_t lane = 0;  // host thread, or stream of the device
  uint32_t name = 0;  // from EventLog::Name(); 0: none
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t value = 0;
};

// Writes the events of one process to a file. Thread-safe.
class EventLog {
 public:
  // Opens "PID-WRITER.events" in the folder named by the environment variable RECPACK_EVENTS.
  // Appends if the file exists, as after exec(). Returns null if the variable is not set or the
  // file cannot be opened: the program then runs without a log.
  static std::unique_ptr<EventLog> Open(const std::string& writer);

  // Returns the log of this process, opened at the first call; may be null. A forked child gets a
  // log of its own.
  static EventLog* OfProcess();

  static int64_t Now() noexcept;
  // Returns Event::lane of the calling thread.
  static uint32_t ThreadLane() noexcept;

  ~EventLog();

  // Returns the number of a name; equal names get equal numbers.
  uint32_t Name(std::string_view name);

  // Buffers an event. Open events are flushed at once, others by the first Write() that is more
  // than 0.1 s after the last flush. Events that cannot be written are dropped.
  void Write(const Event& event) noexcept;
  // Writes all buffered events to the file.
  void Flush() noexcept;

 private:
  struct State;
  explicit EventLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Records an event that lasts as long as the object. `log` may be null: nothing is recorded then.
class EventSpan {
 public:
  // `open`: also writes the event when it begins, so that readers see it while it lasts.
  EventSpan(EventLog* log, Event event, bool open = false) noexcept : log_(log), event_(event) {
    if (log_ == nullptr) return;
    event_.begin = EventLog::Now();
    event_.open = open;
    if (open) log_->Write(event_);
    event_.open = false;
  }
  ~EventSpan() {
    if (log_ == nullptr) return;
    event_.end = EventLog::Now();
    log_->Write(event_);
  }
  EventSpan(const EventSpan&) = delete;

 private:
  EventLog* const log_;
  Event event_;
};

// Records that the calling thread waits for a batch, as long as the object lives. `device`: the
// device the batch is for.
class InputWaitSpan {
 public:
  explicit InputWaitSpan(uint16_t device = Event::kNoDevice);

  // Marks the calling thread as a prefetching thread: its waits are no longer recorded as waits of
  // the training.
  static void ThisThreadFetchesAhead() noexcept;

 private:
  const EventSpan span_;
};

}  // namespace recpack
