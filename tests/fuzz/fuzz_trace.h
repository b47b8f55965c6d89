// Checks what readers of other profilers' traces make of any bytes: they are refused, or events end
// after they begin and sums are no less than their parts.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/probe/events/profiler_trace.h"
#include "src/probe/steps/trace_summary.h"
#include "tests/probe/whole_trace.h"

namespace recpack::probe {

inline void CheckTrace(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& event : events) {
    if (event.event.end < event.event.begin) std::abort();
  }
  for (const DeviceUse& use : Summarise(events).devices) {
    if (use.kernels > use.duration() || use.covered_copies > use.copies) std::abort();
    if (use.kernels > use.kernel_times) std::abort();
  }
}

// A file in memory that has a name, as SQLite needs one; it is removed at the end.
class TraceFile {
 public:
  TraceFile() : descriptor_(::mkstemp(path_.data())) {
    if (descriptor_ < 0) std::abort();
  }
  ~TraceFile() {
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
  TraceFile(const TraceFile&) = delete;

  void Fill(const uint8_t* data, size_t size) const {
    if (::ftruncate(descriptor_, 0) != 0 ||
        ::pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/recpack-fuzz-XXXXXX";
  const int descriptor_;
};

// Returns 0, as fuzz targets do.
inline int FuzzTrace(const uint8_t* data, size_t size,
                     ProfilerTrace (&read)(const std::string& path, TraceEvents& events)) {
  static const TraceFile file;
  file.Fill(data, size);
  try {
    CheckTrace(ReadWhole(read, file.path()).events);
  } catch (const Error& error) {
    const bool refusal =
        error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported;
    if (!refusal) throw;
  }
  return 0;
}

}  // namespace recpack::probe
