// What CUPTI tells of this process, written to its event file.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "recpack/base/event_log.h"
#include "src/probe/cupti/activity_buffers.h"
#include "src/probe/cupti/activity_events.h"
#include "src/probe/cupti/cupti_api.h"
#include "src/probe/cupti/cupti_clock.h"

namespace recpack::probe {

// One in a process, which is never destroyed: CUPTI's threads call it to the end.
class CuptiTrace {
 public:
  explicit CuptiTrace(std::unique_ptr<EventLog> log);

  // Returns false, and leaves the reason in the notice, where nothing can be traced: another
  // profiler is there, or a right is missing. Starts a thread that has CUPTI give what it has.
  bool Start();
  // Has CUPTI give all there is, at the end of the process; nothing in a forked child.
  void Finish();

  // Of CUPTI.
  void Request(uint8_t** buffer, size_t* size, size_t* most_records);
  void Complete(uint8_t* buffer, size_t size);

 private:
  bool Subscribe();
  void Enable(CUpti_ActivityKind kind, const char* what);
  void EnableCalls();
  void FlushNowAndThen();
  void TellWhatIsMissing();

  const CuptiApi& api_;
  const int pid_;
  const std::unique_ptr<EventLog> log_;
  CuptiClock clock_;
  ActivityBuffers buffers_;
  std::mutex events_mutex_;
  ActivityEvents events_;
  std::mutex mutex_;  // of what follows
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread flusher_;
};

}  // namespace recpack::probe
