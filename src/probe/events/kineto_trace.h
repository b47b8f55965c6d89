// Traces that PyTorch's profiler (Kineto) wrote, as events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

struct KinetoTrace {
  // In the order they begin. Their times are on the trace's clock: ns since `base_time`.
  std::vector<TimedEvent> events;
  int64_t base_time = 0;             // ns since 1970; 0: the times themselves count from there
  std::vector<std::string> devices;  // names of its GPUs
  std::optional<int> rank;           // of a distributed job
  std::optional<int> world_size;
  uint64_t passed_over = 0;  // operators of the CPU and other events that mean nothing here
};

// A Chrome trace as export_chrome_trace() and tensorboard_trace_handler() write it, packed with
// gzip or not. Kernels become kDevice or, where they are NCCL's, kCollective; copies and fills
// kCopy; calls of CUDA that work or wait kHost; ProfilerStep# kStep; the DataLoader's __next__
// kInputWait; other annotations kRange. The text is streamed: only the events are held.
//
// Throws Error: kNotFound, kIo; kCorrupt where it is no JSON or ends too early, with the byte (of
// the unpacked text); kUnsupported where it is JSON of another kind.
KinetoTrace ReadKinetoTrace(const std::string& path);

}  // namespace recpack::probe
