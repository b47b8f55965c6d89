// Checks what readers of other profilers' traces make of any bytes: they are refused, or events end
// after they begin and sums are no less than their parts.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "recpack/base/error.h"
#include "src/probe/events/profiler_trace.h"
#include "src/probe/steps/trace_summary.h"

namespace recpack::probe {

inline void CheckTrace(const ProfilerTrace& trace) {
  for (const TimedEvent& event : trace.events) {
    if (event.event.end < event.event.begin) std::abort();
  }
  for (const DeviceUse& use : Summarise(trace.events).devices) {
    if (use.kernels > use.duration() || use.covered_copies > use.copies) std::abort();
    if (use.kernels > use.kernel_times) std::abort();
  }
}

// Returns 0, as fuzz targets do.
inline int FuzzTrace(const uint8_t* data, size_t size,
                     ProfilerTrace (&read)(const std::string& path)) {
  static const int file = ::memfd_create("trace", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  try {
    CheckTrace(read("/proc/self/fd/" + std::to_string(file)));
  } catch (const Error& error) {
    const bool refusal =
        error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported;
    if (!refusal) throw;
  }
  return 0;
}

}  // namespace recpack::probe
