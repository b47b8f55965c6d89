// Reads traces of PyTorch's profiler (Kineto) as events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

struct KinetoTrace {
  // Sorted by begin. Times are on the trace's clock: ns since `base_time`.
  std::vector<TimedEvent> events;
  int64_t base_time = 0;             // ns since 1970; 0: the times are ns since 1970
  std::vector<std::string> devices;  // names of the GPUs
  std::optional<int> rank;           // of a distributed job
  std::optional<int> world_size;
  uint64_t passed_over = 0;  // CPU operators and other events that are not used
};

// Reads a Chrome trace written by export_chrome_trace() or tensorboard_trace_handler(), plain or in
// gzip format. Kernels become kDevice (NCCL's: kCollective); copies and fills kCopy; CUDA calls
// that work or wait kHost; ProfilerStep# kStep; the DataLoader's __next__ kInputWait; other
// annotations kRange. Streams the text and holds only the events.
//
// Throws Error: kNotFound, kIo; kCorrupt if the file is not JSON or is truncated, with the byte
// position in the decompressed text; kUnsupported if it is JSON of another kind.
KinetoTrace ReadKinetoTrace(const std::string& path);

}  // namespace recpack::probe
