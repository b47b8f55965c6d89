// Reads traces of PyTorch's profiler (Kineto) as events.
#pragma once

#include <string>

#include "src/probe/events/profiler_trace.h"

namespace recpack::probe {

// Reads a Chrome trace written by export_chrome_trace() or tensorboard_trace_handler(), plain or in
// gzip format. Kernels become kDevice (NCCL's: kCollective); copies and fills kCopy; CUDA calls
// that work or wait kHost; ProfilerStep# kStep; the DataLoader's __next__ kInputWait; other
// annotations kRange. Streams the text. Adds the events to `events`.
//
// Throws Error: kNotFound, kIo; kCorrupt if the file is not JSON or is truncated, with the byte
// position in the decompressed text; kUnsupported if it is JSON of another kind.
ProfilerTrace ReadKinetoTrace(const std::string& path, TraceEvents& events);

}  // namespace recpack::probe
