// Reads traces of other profilers as events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/events/trace_events.h"

namespace recpack::probe {

// Times of its events are on the trace's clock: ns since `base_time`.
struct ProfilerTrace {
  int64_t base_time = 0;             // ns since 1970; 0: the times are ns since 1970
  std::vector<std::string> devices;  // names of the GPUs
  std::optional<int> rank;           // of a distributed job
  std::optional<int> world_size;
  uint64_t passed_over = 0;  // events that are not used
};

// Reads a trace of PyTorch's profiler (kineto_trace.h), of Nsight Systems (nsight_trace.h), or of
// the profiler of TensorFlow and JAX (xplane_trace.h), told apart by how the file begins. Throws
// what these throw, and Error (kUnsupported) for a file of none of these kinds.
ProfilerTrace ReadProfilerTrace(const std::string& path, TraceEvents& events);

}  // namespace recpack::probe
