// Reads SQLite exports of Nsight Systems as events.
#pragma once

#include <string>

#include "src/probe/events/profiler_trace.h"

namespace recpack::probe {

// Reads a file that `nsys export --type sqlite` (or `nsys stats`) wrote:
// https://docs.nvidia.com/nsight-systems/UserGuide/index.html, "SQLite Schema Reference". Kernels
// become kDevice (NCCL's: kCollective); copies and fills kCopy; CUDA calls that work or wait kHost;
// NVTX ranges and marks kRange. Tables and columns that an export lacks (they are made lazily, and
// versions differ) count as empty. Needs libsqlite3.so.0, which is loaded at the first call.
//
// Throws Error: kNotFound, kIo; kCorrupt for a damaged file; kUnsupported for a database of another
// kind, or without the library.
ProfilerTrace ReadNsightTrace(const std::string& path, TraceEvents& events);

}  // namespace recpack::probe
