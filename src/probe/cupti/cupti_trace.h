// Traces this process with CUPTI and writes the events to its event file.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "recpack/base/event_log.h"
#include "src/probe/cupti/activity_buffers.h"
#include "src/probe/cupti/activity_events.h"
#include "src/probe/cupti/cupti_api.h"
#include "src/probe/cupti/cupti_clock.h"

namespace recpack::probe {

// Appends a line about what could not be traced to PID-cupti.notice in the folder RECPACK_EVENTS,
// for the reader of the events. Thread-safe. Ignores errors.
void Notice(const std::string& text) noexcept;

// At most one per process, never destroyed: CUPTI's threads use it until the process ends.
class CuptiTrace {
 public:
  explicit CuptiTrace(std::unique_ptr<EventLog> log);

  // Starts tracing, and a thread that flushes CUPTI's buffers. Returns false and writes a notice if
  // nothing can be traced: another profiler is active, or a permission is missing.
  bool Start();
  // Flushes all buffers at the end of the process. Does nothing in a forked child.
  void Finish();

  // CUPTI's callbacks.
  void Request(uint8_t** buffer, size_t* size, size_t* most_records);
  void Complete(uint8_t* buffer, size_t size);

 private:
  bool Subscribe();
  void Enable(CUpti_ActivityKind kind, const char* what);
  void EnableCalls();
  void FlushPeriodically();
  void NoteLosses();

  const CuptiApi& api_;
  const int pid_;
  const std::unique_ptr<EventLog> log_;
  CuptiClock clock_;
  ActivityBuffers buffers_;
  std::mutex events_mutex_;
  ActivityEvents events_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread flusher_;
};

}  // namespace recpack::probe
