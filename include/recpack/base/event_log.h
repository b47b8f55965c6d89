// What a program tells somebody who watches it: what it did when. docs/format/events.md has the
// layout of the files.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace recpack {

enum class EventKind : uint8_t {
  kStep = 2,        // of a training; value: its number, from 0
  kInputWait = 3,   // a training thread waits for its next batch
  kDevice = 4,      // a device computes: a kernel, or all of a step that nobody tells apart
  kCopy = 5,        // bytes move; value: how many, `copy` says from where to where
  kCollective = 6,  // a device exchanges values with others, or waits for them
  kRange = 7,       // named by the program (NVTX)
  kHost = 8,        // the host is busy for a device: launches, waits for it
};
inline constexpr int kLastEventKind = 8;

enum class CopyKind : uint8_t { kNone, kHostToDevice, kDeviceToHost, kDeviceToDevice, kPeerToPeer };

// The name of the ranges in which a thread that fetches ahead for others waits for batches.
inline constexpr char kFetchedAhead[] = "input in a background thread";

// Nanoseconds of CLOCK_MONOTONIC.
struct Event {
  static constexpr uint16_t kNoDevice = 0xffff;

  EventKind kind = EventKind::kRange;
  CopyKind copy = CopyKind::kNone;
  bool open = false;  // it has begun; the same event follows once more when it ends
  uint16_t device = kNoDevice;
  uint32_t lane = 0;  // thread of the host, or stream of the device
  uint32_t name = 0;  // EventLog::Name(); 0: none
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t value = 0;
};

// A file of events of one process. Any thread.
class EventLog {
 public:
  // Where RECPACK_EVENTS names a folder: a new file in it, "PID-WRITER.events", or for a process
  // that was replaced by exec, the one there is. Null where nobody watches, or where no file can be
  // written: a program runs as it would otherwise.
  static std::unique_ptr<EventLog> Open(const std::string& writer);

  // That of the library, opened at the first call. In a forked child it is the child's own.
  static EventLog* OfProcess();

  static int64_t Now() noexcept;
  // Event::lane of the calling thread.
  static uint32_t ThreadLane() noexcept;

  ~EventLog();

  // A number for a name, the same for the same name.
  uint32_t Name(std::string_view name);

  // Events reach the file within a tenth of a second of the next call, open ones at once. What
  // cannot be written is lost.
  void Write(const Event& event) noexcept;
  // All that was written so far.
  void Flush() noexcept;

 private:
  struct State;
  explicit EventLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// An event from here to the end of the object's life. `log`: null where nobody watches.
class EventSpan {
 public:
  // `open`: tells at once that it has begun, so that it is seen while it lasts.
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

// While it lives, this thread waits for a batch. `device`: that the batch is for.
class InputWaitSpan {
 public:
  explicit InputWaitSpan(uint16_t device = Event::kNoDevice);

  // The calling thread fetches ahead for others: its waits from here on are no trainer's.
  static void ThisThreadFetchesAhead() noexcept;

 private:
  const EventSpan span_;
};

}  // namespace recpack
